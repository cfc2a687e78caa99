"""The stages of a DeepLore generation, one file each; `pipeline` puts them in order."""
