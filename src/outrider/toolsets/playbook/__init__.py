"""Tools and prompts for an assistant's playbooks."""
