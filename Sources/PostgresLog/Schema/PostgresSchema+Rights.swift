public import TimerLog

extension PostgresSchema {
    /// Checks that the role may do what a server does with the tables; reading a log takes fewer rights.
    ///
    /// - Throws: `unusable`, naming what is missing.
    public static func checkRights(_ address: PostgresAddress) throws(StoreError) {
        do throws(PostgresFailure) {
            let connection = try PostgresConnection.open(address, for: PostgresConnection.Purpose(session: 0))
            let missing = try connection.run(missingRights)
            guard missing.count > 0 else { return }
            let rights = (0..<missing.count).map { "\(missing.text($0, 1)) on \(missing.text($0, 0))" }
            throw PostgresFailure(
                "permission denied: the role lacks \(rights.joined(separator: ", "))", isCertain: true, kind: .unusable)
        } catch {
            throw error.storeError("looking at the role's rights")
        }
    }

    private static let missingRights = PostgresStatement(
        "timerd_rights",
        """
        SELECT t.name, r.name FROM unnest(ARRAY['timerd_meta', 'timerd_node', 'timerd_owner', 'timerd_log']) AS t(name),
          unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS r(name)
        WHERE NOT has_table_privilege(t.name, r.name)
          AND (t.name, r.name) NOT IN (('timerd_meta', 'INSERT'), ('timerd_meta', 'DELETE'), ('timerd_owner', 'INSERT'),
            ('timerd_owner', 'DELETE'))
        """)
}
