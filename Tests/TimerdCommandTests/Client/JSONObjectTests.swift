import Testing

@testable import HTTPClient
@testable import TimerdCommand

struct JSONObjectTests {
    private func object(_ text: String) throws -> JSONObject { try #require(JSONObject(Array(text.utf8))) }

    @Test func `a member is text, whatever its kind`() throws {
        let object = try object(#"{"a":"x\u00e9","b":1.50,"c":true,"d":null,"e":{"f" : [1]},"g":[ ]}"#)
        #expect([object["a"], object["b"], object["c"]] == ["xé", "1.50", "true"])
        #expect([object["d"], object["h"]] == [nil, nil])
        #expect([object["e"], object["g"]] == [#"{"f":[1]}"#, "[]"])
        #expect(object.names == ["a", "b", "c", "d", "e", "g"])
        #expect(object.members.map(\.name) == ["a", "b", "c", "e", "g"])
    }

    @Test func `objects and strings in it are found`() throws {
        let object = try object(#"{"list":[{"id":"a"},1,{"id":"b"}],"words":["x",1,null],"inner":{"id":"c"}}"#)
        #expect(object.objects("list").map { $0["id"] } == ["a", "b"])
        #expect(object.strings("words") == ["x", "1"])
        #expect(object.object("inner")?["id"] == "c")
        #expect(object.object("list") == nil && object.object(named: "words") == nil)
        #expect(object.json("inner").map { String(decoding: $0, as: UTF8.self) } == #"{"id":"c"}"#)
        #expect(object.objects("inner").isEmpty && object.objects("none").isEmpty)
    }

    @Test(arguments: ["", "[]", "1", "{", "nonsense", "{}{}"])
    func `anything else is no object`(text: String) {
        #expect(JSONObject(Array(text.utf8)) == nil)
        let response = HTTPResponse(status: 200, headers: [], body: Array(text.utf8))
        let failure = #expect(throws: Failure.self) { try JSONObject(response) }
        #expect(failure?.line == "the server's answer is not a JSON object: is it timerd?")
    }
}
