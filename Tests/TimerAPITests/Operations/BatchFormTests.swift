import Testing
import WireJSON

@testable import TimerAPI

/// How a batch's body is cut into lines, and how its results are joined.
struct BatchFormTests {
    private func ranges(_ body: String, isJSON: Bool = true) throws -> [String] {
        let body = Array(body.utf8)
        var document = JSONDocument()
        return try BatchForm(of: body, isJSON: isJSON).ranges(in: body, &document)
            .map { String(decoding: body[$0], as: UTF8.self) }
    }

    private func refusal(_ body: String, isJSON: Bool = true) -> Problem? {
        do { _ = try ranges(body, isJSON: isJSON) } catch { return error as? Problem }
        return nil
    }

    @Test(arguments: [
        ("[]", true, BatchForm.array), (" \r\n\t[{}]", true, .array), ("[]", false, .lines), ("{}", true, .lines),
        ("{}\n[]", true, .lines), ("", true, .lines), ("x", true, .lines),
    ])
    func `an array is taken as JSON alone`(body: String, isJSON: Bool, form: BatchForm) {
        #expect(BatchForm(of: Array(body.utf8), isJSON: isJSON) == form)
    }

    @Test(
        arguments: [
            ("{}", ["{}"]), ("\n \r\n{}\r\n\n{\"a\":1}\n", ["{}\r", "{\"a\":1}"]), ("{}\n[", ["{}", "["]), ("\n", []),
            ("[]", []), (" [ ] ", []), ("[{}]", ["{}"]),
            ("[\n {} ,\t{\"a\":[{},\",]\"]}\r\n] \n", ["{}", "{\"a\":[{},\",]\"]}"]),
            ("[1,\"x\",null]", ["1", "\"x\"", "null"]),
        ] as [(String, [String])])
    func `a body is cut into lines or elements`(body: String, parts: [String]) throws {
        #expect(try ranges(body) == parts)
    }

    @Test(arguments: [
        "{", "{} {}", "{}{}", "1", "null", "\"x\"", "x", "{\"a\":}", "{\"a\":1,\"a\":2}", "{\n}", "\u{FEFF}{}", "[{}]",
        "[",
    ])
    func `a first line that is no object refuses the whole`(line: String) throws {
        let problem = try #require(refusal(line + "\n{}", isJSON: false))
        #expect(problem.kind == .invalidRequest)
        #expect(problem.detail.hasPrefix("one object a line"))
    }

    @Test(arguments: [
        ("[", ""), ("[{}", ""), ("[{},", ""), ("[{}}", ""), ("[{} {}]", ""), ("[{}]]", ""), ("[{}] {}", ""),
        ("[,]", "/0"),
        ("[{},]", "/1"), ("[{},{\"a\":x}]", "/1/a"), ("[{},{\"a\":1,\"a\":2}]", "/1/a"), ("[{}\n{}]", ""), ("[}", "/0"),
    ])
    func `an array that can't be parsed is refused with its pointer`(body: String, pointer: String) throws {
        let problem = try #require(refusal(body))
        #expect(problem.kind == .invalidRequest)
        #expect(problem.pointer == pointer)
        #expect(problem.detail.hasPrefix("the array can't be parsed"))
    }

    @Test(arguments: ["\"", "[[", "{\"a\":"])
    func `what is too long is told, and alone where it is a line`(start: String) throws {
        let long = start + String(repeating: start == "[[" ? "[" : " ", count: APILimits.bodyBytes)
        #expect(try ranges(long + "\n{}", isJSON: false).count == 2)
        let problem = try #require(refusal("[{}," + long + "]"))
        #expect(problem.kind == .tooLarge && problem.pointer == "/1")
        var document = JSONDocument()
        let body = Array(long.utf8)
        #expect(throws: Problem.self) { try BatchForm.lines.parse(body, 0..<body.count, &document) }
    }

    @Test func `a timer in a line is nested as deep as one alone`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        func detail(refusing line: String) throws -> String? {
            let body = Array(line.utf8)
            #expect(try ranges(line + "\n{}", isJSON: false).count == 2)
            #expect(try ranges("[" + line + "]").count == 1)
            var document = JSONDocument()
            do throws(Problem) { try BatchForm.lines.parse(body, 0..<body.count, &document) } catch {
                return error.detail
            }
            return nil
        }
        for (depth, expected) in [(31, nil), (32, "nesting over 32"), (33, "nesting over 32"), (99, "nesting over 32")]
        {
            #expect(try detail(refusing: #"{"id":"a","payload":\#(nested(depth))}"#) == expected)
            #expect(try detail(refusing: #"{"apply":{"id":"a","payload":\#(nested(depth))}}"#) == expected)
        }
    }

    @Test func `there are so many lines or elements at most`() throws {
        let most = APILimits.batchLines
        let lines = String(repeating: "{}\n", count: most)
        #expect(try ranges(lines).count == most)
        #expect(refusal(lines + "\n \n") == nil)
        #expect(refusal(lines + "{}")?.kind == .tooLarge)
        let elements = "[" + String(repeating: "{},", count: most - 1)
        #expect(try ranges(elements + "{}]").count == most)
        #expect(refusal(elements + "{},{}]")?.kind == .tooLarge)
    }

    @Test(
        arguments: [
            (BatchForm.lines, "{} {}", "one object a line: trailing bytes"),
            (.lines, "{", "one object a line: unexpected end"),
            (.lines, "[]", "application/json"), (.lines, "1", "one object a line"), (.array, "1", "each element"),
            (.lines, "{\"a\":1,\"a\":2}", "duplicate key"), (.lines, "{}", nil),
        ] as [(BatchForm, String, String?)])
    func `a later line says what it is to be`(form: BatchForm, line: String, detail: String?) {
        let body = Array(line.utf8)
        var document = JSONDocument()
        var found: String?
        do throws(Problem) { try form.parse(body, 0..<body.count, &document) } catch { found = error.detail }
        #expect((found == nil) == (detail == nil))
        if let detail { #expect(found?.contains(detail) ?? false) }
    }

    @Test(arguments: [
        (BatchForm.lines, 0, ""), (.lines, 2, "{\"status\":204,\"id\":\"a\"}\n{\"status\":204,\"id\":\"a\"}\n"),
        (.array, 0, "[]"),
        (.array, 1, "[{\"status\":204,\"id\":\"a\"}]"),
        (.array, 2, "[{\"status\":204,\"id\":\"a\"},{\"status\":204,\"id\":\"a\"}]"),
    ])
    func `results are joined as the lines were`(form: BatchForm, count: Int, text: String) {
        var json = JSONWriter()
        for _ in 0..<count { form.write(.deleted(id: [UInt8(ascii: "a")]), &json, requestID: [], to: .nobody) }
        #expect(String(decoding: json.bytes + form.ending(isEmpty: json.count == 0), as: UTF8.self) == text)
    }
}
