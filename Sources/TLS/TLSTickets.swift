import CTLS

/// The keys that seal session tickets, with which clients go on with a session in a further connection. A key seals for an
/// hour and opens for another. May be used on any thread.
@safe final class TLSTickets: @unchecked Sendable {  // unchecked: the keys have a lock of their own
    let pointer: OpaquePointer

    /// Makes fresh keys; nil without memory or randomness.
    init?() {
        guard let made = unsafe ctls_tickets_make() else { return nil }
        unsafe pointer = made
    }

    deinit { unsafe ctls_tickets_free(pointer) }

    /// Replaces the key that seals, as happens by itself every hour.
    func rotate() { unsafe ctls_tickets_rotate(pointer) }
}
