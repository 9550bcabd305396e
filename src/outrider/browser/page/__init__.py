"""Operations on one page: navigation, dialogs, files, console and network."""
