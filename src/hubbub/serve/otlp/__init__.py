"""Where clients tell what they use: OTLP over HTTP, as protobuf and as JSON."""
