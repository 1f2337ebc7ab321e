import WireJSON

/// Input: a JSON text.
func fuzzJSON(_ input: [UInt8]) {
    var document = JSONDocument()
    do {
        try document.parse(input)
    } catch {
        require(document.kind(document.root) == .null, "a text that was refused leaves a value")
        return
    }
    var values = 0
    visit(document.root, document, &values)
    var compact: [UInt8] = []
    document.appendCompact(document.root, to: &compact)
    var again = JSONDocument()
    guard (try? again.parse(compact)) != nil else { fatalError("broken: the compact form does not parse") }
    var valuesAgain = 0
    visit(again.root, again, &valuesAgain)
    require(values == valuesAgain, "the compact form has other values")
    var fixedPoint: [UInt8] = []
    again.appendCompact(again.root, to: &fixedPoint)
    require(compact == fixedPoint, "the compact form has a shorter one")
}

/// Reads a value and all below it by every accessor.
private func visit(_ node: JSONNode, _ document: JSONDocument, _ values: inout Int) {
    values += 1
    if values < 64 { _ = document.pointer(to: node) }
    let isKeyUTF8 = String(validating: document.keyBytes(node), as: UTF8.self) != nil
    require(isKeyUTF8, "a key is no UTF-8")
    require(String(validating: document.string(node), as: UTF8.self) != nil, "a string is no UTF-8")
    if let integer = document.integer(node) {
        let number = document.number(node)
        require(number == Double(integer), "\(integer) as a double is \(String(describing: number))")
    }
    _ = document.member(node, "a")
    var child = document.firstChild(node)
    while let next = child {
        visit(next, document, &values)
        child = document.next(next)
    }
}
