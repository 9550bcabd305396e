"""Operations on a page: navigation, dialogs, files, logs and screenshots."""
