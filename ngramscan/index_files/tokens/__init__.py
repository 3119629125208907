"""The files of infini-gram's indexes over tokens: read, built, verified; and their tokenizers."""
