"""Complete arguments such as `key=value`.

Click's own scripts end them with a space, or lose them in bash.
"""

import os

from click.shell_completion import BashComplete, ZshComplete, add_completion_class, split_arg_string

# `complete` gets the whole line; a reply is the part after the last `=` or `:`, where readline begins the current word.
BASH_SCRIPT = """\
%(complete_func)s() {
    local IFS=$'\\n' line=${COMP_LINE:0:COMP_POINT} type value
    local typed=${line##*[[:space:]]}
    local prefix=${typed%%"${typed##*["$COMP_WORDBREAKS"]}"}
    while IFS=',' read -r type value; do
        case $type in
        dir) COMPREPLY=() && compopt -o dirnames ;;
        file) COMPREPLY=() && compopt -o default ;;
        plain)
            COMPREPLY+=("${value#"$prefix"}")
            [[ $value == *= ]] && compopt -o nospace
            ;;
        esac
    done < <(env COMP_WORDS="$line" %(complete_var)s=bash_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class WholeLineBashComplete(BashComplete):
    """Completion for bash that parses the line instead of bash's words."""

    source_template = BASH_SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one to complete, and its beginning."""
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)
        incomplete = "" if line[-1:].isspace() or len(words) < 2 else words.pop()
        return words[1:], incomplete


class OpenValueZshComplete(ZshComplete):
    """Completion for zsh that leaves the cursor behind `key=`."""

    source_template = ZshComplete.source_template.replace(
        "compadd -U -V unsorted -a completions",
        """local -a values=(${completions:#*=}) keys=(${(M)completions:#*=})
        (( $#values )) && compadd -U -V unsorted -a values
        (( $#keys )) && compadd -U -V unsorted -S '' -a keys""",
    )


def register_shells() -> None:
    """Let click use our completion for bash and zsh."""
    for shell in (WholeLineBashComplete, OpenValueZshComplete):
        add_completion_class(shell)
