"""The documents, served by the hub that they describe: readable without a network, in the version that runs."""
