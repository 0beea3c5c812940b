"""The REST API and the websocket."""
