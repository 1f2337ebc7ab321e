import Testing

@testable import TimerdCommand

struct ShortSizeTests {
    @Test(
        arguments: [
            (0, "0 B"), (512, "512 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_468_006, "1.3 MiB"),
            (102_400, "100 KiB"), (1_048_575, "1023 KiB"), (1_048_576, "1.0 MiB"), (268_435_456_000, "250 GiB"),
            (.max, "838860 TiB"),
        ] as [(Int64, String)])
    func `a size has three digits, rounded down`(bytes: Int64, text: String) {
        #expect(ShortSize.text(bytes) == text)
    }
}
