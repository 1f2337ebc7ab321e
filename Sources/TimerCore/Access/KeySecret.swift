/// The id of an access key: 60 bits, shown as 12 characters of `[a-z2-7]`.
public struct KeyID: Sendable, Hashable, Comparable {
    /// The bits, the highest four of which are 0.
    public let bits: UInt64

    /// The characters of an id, of five bits each.
    static let characters = 12
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let bitCount: UInt64 = 60

    /// Makes the id of these bits; nil where there are more than 60.
    public init?(bits: UInt64) {
        guard bits >> Self.bitCount == 0 else { return nil }
        self.bits = bits
    }

    /// Makes an id of a random word.
    public init(random word: UInt64) { bits = word >> (64 - Self.bitCount) }

    /// Reads an id's text; nil where it is none.
    public init?(_ text: some Collection<UInt8>) {
        guard text.count == Self.characters else { return nil }
        var bits: UInt64 = 0
        for byte in text {
            guard let digit = Self.alphabet.firstIndex(of: byte) else { return nil }
            bits = bits << 5 | UInt64(digit)
        }
        self.bits = bits
    }

    /// The id as clients see it.
    public var text: String { String(decoding: Self.digits(of: bits), as: UTF8.self) }

    /// Returns the text of the 60 low bits of a word.
    static func digits(of bits: UInt64) -> [UInt8] {
        (1...characters).map { alphabet[Int(bits >> (bitCount - 5 * UInt64($0)) & 31)] }
    }

    /// Orders ids by their bits, which is the order of their texts' digits.
    public static func < (left: KeyID, right: KeyID) -> Bool { left.bits < right.bits }
}

/// The SHA-256 of a secret's text: all that the log knows of a secret.
public struct KeyDigest: Sendable, Hashable {
    /// The hash as four words, each little-endian.
    private let words: SIMD4<UInt64>

    /// The bytes of a hash.
    public static let count = 32

    /// Makes the digest of these bytes; nil unless they are 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.count else { return nil }
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.enumerated() { words[index / 8] |= UInt64(byte) << UInt64(8 * (index % 8)) }
        self.words = words
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        (0..<Self.count).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64(8 * ($0 % 8))) }
    }

    /// Whether `other` is the same, compared in full: the time taken does not show how much of it was right.
    public func matches(_ other: KeyDigest) -> Bool {
        let difference = words ^ other.words
        return difference[0] | difference[1] | difference[2] | difference[3] == 0
    }

    /// A digest that no secret has: there is no known text with this hash.
    static let none = KeyDigest(repeating: 0)

    private init(repeating word: UInt64) { words = SIMD4(repeating: word) }
}

/// The text by which a client proves that it has a key: `tmk_<id>_<random>`, with 240 random bits.
///
/// A secret is described and reflected without its random part only.
public struct KeySecret: Sendable {
    /// The prefix of every secret's text.
    public static let prefix = "tmk_"
    /// The random words that a secret takes, of 60 bits each.
    public static let randomWords = 4

    /// The id of the key.
    public let id: KeyID
    /// The text, which is shown to one client once.
    public let text: String

    private static let start = prefix.utf8.count
    private static let count = start + KeyID.characters + 1 + randomWords * KeyID.characters

    /// Makes the secret of a key.
    ///
    /// - Parameter random: `randomWords` words from the system's source.
    public init(id: KeyID, random: [UInt64]) {
        precondition(random.count == Self.randomWords, "a secret with fewer random bits could be guessed")
        let digits = random.flatMap(KeyID.digits(of:))
        self.id = id
        text = "\(Self.prefix)\(id.text)_\(String(decoding: digits, as: UTF8.self))"
    }

    /// Returns the id in a secret's text; nil where the text has not the form of one.
    public static func id(in text: ArraySlice<UInt8>) -> KeyID? {
        guard text.count == count, text.starts(with: prefix.utf8) else { return nil }
        let rest = text.dropFirst(start)
        guard rest.dropFirst(KeyID.characters).first == UInt8(ascii: "_") else { return nil }
        return KeyID(rest.prefix(KeyID.characters))
    }
}

extension KeySecret: CustomStringConvertible, CustomReflectable {
    /// The text without its random part.
    public var description: String { "\(Self.prefix)\(id.text)_…" }
    /// No children, so that `dump` shows the description only.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
