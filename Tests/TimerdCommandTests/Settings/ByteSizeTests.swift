import Testing

@testable import TimerdCommand

struct ByteSizeTests {
    @Test(arguments: [
        ("100B", 100), ("64KiB", 64 << 10), ("512MiB", 512 << 20), ("1GiB", 1 << 30), ("2TiB", 2 << 40),
        ("1048576TiB", ByteSize.maximum), ("0B", 0),
    ])
    func `a whole number and its unit is a size`(text: String, bytes: Int) {
        #expect(ByteSize.parse(Substring(text)) == bytes)
    }

    @Test(arguments: [
        "", "B", "100", "1.5GiB", "-1B", "+1B", " 1B", "1 B", "1gib", "1GB", "1048577TiB", "9999999999999999999B",
    ])
    func `anything else is none`(text: String) {
        #expect(ByteSize.parse(Substring(text)) == nil)
    }
}
