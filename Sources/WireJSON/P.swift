enum WireJSONPlaceholder {}
