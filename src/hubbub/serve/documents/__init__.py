"""The documents, served by the hub that they describe: readable offline, in the version that runs."""
