public import TimerCore

/// The bytes of access keys.
///
/// ```
/// key        the record's instant; the key's id (8 bytes); a varint of the principal that changed it, see
///            `KeyGrantor`; a byte, 0 where the key is revoked, else bit 0 and bits for the members that the key has;
///            then, unless it is revoked, a byte of its scopes, svarints of the instants of its making and, where the
///            byte says so, of its end and of its last use; the hash of its newest secret (32 bytes); where the byte
///            says so the hash of the secret before and an svarint of its end; the name, and where the byte says so
///            the prefix, each after a varint of its length
/// ```
extension RecordCodec {
    private static let presentBit: UInt8 = 1
    private static let endBit: UInt8 = 2
    private static let useBit: UInt8 = 4
    private static let olderBit: UInt8 = 8
    private static let prefixBit: UInt8 = 16

    /// Appends the record of a key as it is from here on.
    ///
    /// - Parameters:
    ///   - key: the key; nil where it is revoked.
    ///   - grantor: the principal that changed it, also where the server itself writes the key again.
    public static func append(
        _ key: AccessKey?, of id: KeyID, by grantor: KeyGrantor, at: Int64, to bytes: inout [UInt8]
    ) {
        let start = beginFrame(&bytes)
        bytes.append(keyKind)
        ByteCoding.append(signed: at, to: &bytes)
        appendFixed(id.bits, count: 8, to: &bytes)
        ByteCoding.append(grantor.code, to: &bytes)
        if let key { append(key, to: &bytes) } else { bytes.append(0) }
        endFrame(start, &bytes)
    }

    private static func append(_ key: AccessKey, to bytes: inout [UInt8]) {
        bytes.append(
            presentBit | (key.expiresAt == nil ? 0 : endBit) | (key.lastUsedAt == nil ? 0 : useBit)
                | (key.older == nil ? 0 : olderBit) | (key.idPrefix.isEmpty ? 0 : prefixBit))
        bytes.append(key.scopes.rawValue)
        ByteCoding.append(signed: key.createdAt, to: &bytes)
        if let end = key.expiresAt { ByteCoding.append(signed: end, to: &bytes) }
        if let use = key.lastUsedAt { ByteCoding.append(signed: use, to: &bytes) }
        bytes += key.newest.bytes
        if let older = key.older {
            bytes += older.digest.bytes
            ByteCoding.append(signed: older.until, to: &bytes)
        }
        ByteCoding.append(run: key.name.utf8, to: &bytes)
        if !key.idPrefix.isEmpty { ByteCoding.append(run: key.idPrefix, to: &bytes) }
    }

    static func key(_ bytes: Span<UInt8>, _ offset: inout Int, into record: inout LogRecord) -> Bool {
        guard let at = ByteCoding.readSigned(bytes, &offset),
            let id = ByteCoding.readFixed(bytes, &offset, count: 8).flatMap(KeyID.init(bits:)),
            let grantor = ByteCoding.read(bytes, &offset).flatMap(KeyGrantor.init(code:)),
            let members = ByteCoding.readFixed(bytes, &offset, count: 1).map({ UInt8($0) })
        else { return false }
        var key: AccessKey?
        if members != 0 {
            guard let found = readKey(bytes, &offset, id: id, members) else { return false }
            key = found
            key?.changedBy = grantor
        }
        record.at = at
        record.content = .key(id, key, by: grantor)
        return offset == bytes.count
    }

    private static func readKey(_ bytes: Span<UInt8>, _ offset: inout Int, id: KeyID, _ members: UInt8) -> AccessKey? {
        guard members & presentBit != 0, members <= presentBit | endBit | useBit | olderBit | prefixBit,
            let scopes = ByteCoding.readFixed(bytes, &offset, count: 1).map({ KeyScopes(rawValue: UInt8($0)) }),
            let createdAt = ByteCoding.readSigned(bytes, &offset)
        else { return nil }
        var expiresAt: Int64?
        if members & endBit != 0 {
            guard let end = ByteCoding.readSigned(bytes, &offset) else { return nil }
            expiresAt = end
        }
        var lastUsedAt: Int64?
        if members & useBit != 0 {
            guard let use = ByteCoding.readSigned(bytes, &offset) else { return nil }
            lastUsedAt = use
        }
        guard let newest = readDigest(bytes, &offset) else { return nil }
        var older: AccessKey.OlderSecret?
        if members & olderBit != 0 {
            guard let digest = readDigest(bytes, &offset), let until = ByteCoding.readSigned(bytes, &offset) else {
                return nil
            }
            older = AccessKey.OlderSecret(digest: digest, until: until)
        }
        guard let name = readName(bytes, &offset),
            let idPrefix = members & prefixBit == 0 ? [] : ByteCoding.readRun(bytes, &offset),
            idPrefix.isEmpty == (members & prefixBit == 0), AccessKey.mayHave(scopes, idPrefix: idPrefix)
        else { return nil }
        var key = AccessKey(
            id: id, name: name, scopes: scopes, idPrefix: idPrefix, createdAt: createdAt, expiresAt: expiresAt,
            newest: newest)
        (key.older, key.lastUsedAt) = (older, lastUsedAt)
        return key
    }

    private static func readName(_ bytes: Span<UInt8>, _ offset: inout Int) -> String? {
        guard let run = ByteCoding.readRun(bytes, &offset), AccessKey.nameBytes.contains(run.count) else { return nil }
        return String(validating: run, as: UTF8.self)
    }

    private static func readDigest(_ bytes: Span<UInt8>, _ offset: inout Int) -> KeyDigest? {
        guard bytes.count - offset >= KeyDigest.count else { return nil }
        defer { offset += KeyDigest.count }
        return KeyDigest((0..<KeyDigest.count).map { bytes[offset + $0] })
    }
}
