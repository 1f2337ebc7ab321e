import TimerCore

/// Input: an encoded definition.
func fuzzDefinition(_ input: [UInt8]) {
    let bytes = input.span
    let prefix = Definition.prefixCount(bytes)
    require(prefix ?? 0 <= input.count, "the prefix is longer than the definition")
    guard let layout = Definition.layout(bytes) else { return }
    require(layout.prefixCount == prefix && layout.labels == Definition.labels(bytes), "two readings differ")
    var offset = layout.labels.lowerBound
    while let (key, value) = Definition.nextLabel(bytes, &offset, end: layout.labels.upperBound) {
        require(key.upperBound < value.lowerBound && value.upperBound <= layout.prefixCount, "a label lies outside")
    }
    var id: [UInt8] = []
    Definition.appendID(bytes, to: &id)
    let webhook = layout.webhook ?? 0..<0
    let payload = layout.payload ?? 0..<0
    let again = Definition.encode(
        id: id.span, labels: bytes.extracting(layout.labels), rules: layout.rules,
        webhook: bytes.extracting(webhook), payload: bytes.extracting(payload))
    guard let second = Definition.layout(again.span) else { fatalError("broken: what was written does not read") }
    require(second.rules == layout.rules, "the rules read otherwise once written")
    require(again[second.labels] == input[layout.labels], "the labels read otherwise once written")
    require(again[second.webhook ?? 0..<0] == input[webhook], "the webhook reads otherwise once written")
    require(again[second.payload ?? 0..<0] == input[payload], "the payload reads otherwise once written")
}
