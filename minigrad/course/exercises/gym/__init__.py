"""The gym: practice Functions, a spec module and a text file each."""
