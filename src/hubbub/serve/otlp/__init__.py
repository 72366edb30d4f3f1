"""Receiver of the clients' use: OTLP over HTTP, as protobuf and as JSON."""
