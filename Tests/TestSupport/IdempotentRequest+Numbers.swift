package import TimerCore
package import TimerLog

extension IdempotentRequest {
    /// The request whose key, and whose body as well, are this number.
    package static func numbered(_ number: UInt64, by principal: KeyID? = nil) -> IdempotentRequest {
        let hash = Hash128(high: number, low: number)
        return IdempotentRequest(key: hash, fingerprint: hash, principal: principal)
    }
}
