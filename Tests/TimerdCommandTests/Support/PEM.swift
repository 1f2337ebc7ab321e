/// Certificates with their keys, for these tests alone: no machine trusts them.
enum PEM {
    /// A certificate of itself that is valid for a century.
    static let first = """
        -----BEGIN CERTIFICATE-----
        MIIBgDCCASegAwIBAgIURHPgESrtLs6xcj2CMyb0Vmn7sWYwCgYIKoZIzj0EAwIw
        FTETMBEGA1UEAwwKZmlyc3QudGVzdDAgFw0yNjExMjYxMzQ3NTlaGA8yMTI2MTEw
        MjEzNDc1OVowFTETMBEGA1UEAwwKZmlyc3QudGVzdDBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABDwFAMSLsXMNnL2KWadO2vLZ5PYn/Nb7Qi8y2e33jH+PtDMvZ/Kc
        JPf5S+j1yoMV6WRmvpYq8bPm24FyHJ1k6D+jUzBRMB0GA1UdDgQWBBQdyoJb4M3c
        x4bwTfKLFiQ/0HT+CDAfBgNVHSMEGDAWgBQdyoJb4M3cx4bwTfKLFiQ/0HT+CDAP
        BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIHWmtlkdR4EdW9ZBUzK1
        g62ZcoFg92Y8PAnafwVDUmOKAiBaGyYmWexuA5xdpA5gg7aI8knaCOTx5kM9BMfv
        JpVx9g==
        -----END CERTIFICATE-----

        """

    /// The key of `first` and of `expired`.
    static let firstKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgHzC6QvcQtFpTFFNp
        bnTQxb2b0T1JLDvio0/rFXmmPuihRANCAAQ8BQDEi7FzDZy9ilmnTtry2eT2J/zW
        +0IvMtnt94x/j7QzL2fynCT3+Uvo9cqDFelkZr6WKvGz5tuBchydZOg/
        -----END PRIVATE KEY-----

        """

    /// Another certificate of the kind.
    static let second = """
        -----BEGIN CERTIFICATE-----
        MIIBgjCCASmgAwIBAgIUVNBQqFsXbj1GcjJsL3DLgmGvG6EwCgYIKoZIzj0EAwIw
        FjEUMBIGA1UEAwwLc2Vjb25kLnRlc3QwIBcNMjYxMTI2MTM0NzU5WhgPMjEyNjEx
        MDIxMzQ3NTlaMBYxFDASBgNVBAMMC3NlY29uZC50ZXN0MFkwEwYHKoZIzj0CAQYI
        KoZIzj0DAQcDQgAEuI3G4DwWFFabVPvR5/vB+9ikhvowqJDXQoXO+omfV1KcRXXE
        64MNGB9mf155QSnOpI2qzx4OrnmQQeC58w1yeqNTMFEwHQYDVR0OBBYEFKGPkQDb
        Hs531p03PYF1+Pp5pbPtMB8GA1UdIwQYMBaAFKGPkQDbHs531p03PYF1+Pp5pbPt
        MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgLh3vDaFz3iIzigFP
        s0lYzwZPQHP867rbPL4swb7kFL0CIEAl53AFnTP86mDN8kpk8KdjA/x2L75mDrVb
        eg6yyVVs
        -----END CERTIFICATE-----

        """

    /// The key of `second`.
    static let secondKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLqnDJ8zTYoKDUnjQ
        k3MsEhgCNa8+OTERTX1+nVhPHMShRANCAAS4jcbgPBYUVptU+9Hn+8H72KSG+jCo
        kNdChc76iZ9XUpxFdcTrgw0YH2Z/XnlBKc6kjarPHg6ueZBB4LnzDXJ6
        -----END PRIVATE KEY-----

        """

    /// A certificate of the same key that has expired.
    static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIBJDCBywIUX7iR+K8/5tcQZuRmFkF2wnBeUu4wCgYIKoZIzj0EAwIwFTETMBEG
        A1UEAwwKZmlyc3QudGVzdDAeFw0yNjExMjYxMzQ3NTlaFw0yNjExMjUxMzQ3NTla
        MBUxEzARBgNVBAMMCmZpcnN0LnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
        AAQ8BQDEi7FzDZy9ilmnTtry2eT2J/zW+0IvMtnt94x/j7QzL2fynCT3+Uvo9cqD
        FelkZr6WKvGz5tuBchydZOg/MAoGCCqGSM49BAMCA0gAMEUCIQDeOz0haGg56+dv
        pfJ3dium/tWspL3ZqAtpMrYimfGv1gIgf7ERnZVpFiIZ+y0R02sOt4y6oOV75Gf+
        qE4fn3lICBc=
        -----END CERTIFICATE-----

        """

    /// The key of `first` with a password.
    static let lockedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgwNK9ptrt/ygICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEHYs1nUo02vbLQU67D6bZF8EgZB8
        FKbfHj1TStYOwKms2qBxz2zeUflybGXwMqvV+WU97d93KFltT7Z+4hkRRZygB6zH
        hOJhHZXTlEe1AA374dBqjtxfx072Rti1+dDJikcL28oqp4ylZnNjldXnLNbjIc4A
        W9xVvS+luexIqgohVuCIbDhHzCTLSWlt/lKp4Z4l9TgZLH5wYaXManCiItwkUFY=
        -----END ENCRYPTED PRIVATE KEY-----

        """
}
