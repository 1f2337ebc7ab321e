internal import CZstd
internal import Platform
internal import TimerLog

/// Row data as the table stores it: a zstd frame where that is smaller, else the data as they are.
///
/// Row data begin with their format, at most `BatchHeader.format`, and a frame with its magic number, so that the
/// two differ.
@safe final class RowCompression {
    /// The first bytes of a frame.
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    /// The number of first bytes of a frame that include the size of its content.
    static let headBytes = 18
    /// The most bytes of row data that are decompressed; no row that is written has more.
    private static let maximumBytes: Int64 = 64 << 20
    private static let level: Int32 = 1

    private let context: OpaquePointer
    private var frame: [UInt8] = []

    /// Makes a compressor. Confined to one thread at a time.
    init() {
        guard let made = unsafe ZSTD_createCCtx() else { preconditionFailure("there is memory for a compressor") }
        unsafe context = made
    }

    deinit { unsafe ZSTD_freeCCtx(context) }

    /// Returns the bytes that are stored for `data`.
    func stored(_ data: [UInt8]) -> [UInt8] {
        let bound = ZSTD_compressBound(data.count)
        if frame.count < bound { frame = [UInt8](repeating: 0, count: bound) }
        let count = unsafe frame.withUnsafeMutableBytes { out in
            unsafe data.withUnsafeBytes { bytes in
                unsafe ZSTD_compressCCtx(
                    context, out.baseAddress, out.count, bytes.baseAddress, bytes.count, Self.level)
            }
        }
        guard ZSTD_isError(count) == 0, count < data.count else { return data }
        return Array(frame[..<count])
    }

    /// A context of libzstd for decompression.
    @safe private final class Reading: @unchecked Sendable {  // unchecked: one thread after another has it
        let context: OpaquePointer

        init() {
            guard let made = unsafe ZSTD_createDCtx() else { preconditionFailure("there is memory for a decompressor") }
            unsafe context = made
        }

        deinit { unsafe ZSTD_freeDCtx(context) }
    }

    /// The contexts that no thread uses. Making one takes many times as long as a row in a virtual machine, as
    /// libzstd then asks the host what the processor can do.
    private static let idle = Guarded<[Reading]>([])
    private static let mostIdle = 8

    /// Returns the row data that `stored` holds; nil where `stored` is damaged.
    static func data(_ stored: UnsafeRawBufferPointer) -> [UInt8]? {
        guard unsafe isFrame(stored) else { return unsafe Array(stored) }
        let size = unsafe czstd_content_size(stored.baseAddress, stored.count)
        guard (0...maximumBytes).contains(size) else { return nil }
        let reading = idle.withLock { $0.popLast() } ?? Reading()
        defer { idle.withLock { if $0.count < mostIdle { $0.append(reading) } } }
        var isWhole = false
        let data = unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { bytes, count in
            let written = unsafe ZSTD_decompressDCtx(
                reading.context, bytes.baseAddress, bytes.count, stored.baseAddress, stored.count)
            isWhole = ZSTD_isError(written) == 0 && written == Int(size)
            count = isWhole ? written : 0
        }
        return isWhole ? data : nil
    }

    /// Returns the number of bytes of row data that are stored in `count` bytes beginning with `head`; nil where
    /// these are damaged.
    static func dataCount(_ head: [UInt8], of count: Int) -> Int? {
        unsafe head.withUnsafeBytes { bytes in
            guard unsafe isFrame(bytes) else { return count }
            let size = unsafe czstd_content_size(bytes.baseAddress, bytes.count)
            return (0...maximumBytes).contains(size) ? Int(size) : nil
        }
    }

    private static func isFrame(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= magic.count && magic.indices.allSatisfy { unsafe bytes[$0] == magic[$0] }
    }
}
