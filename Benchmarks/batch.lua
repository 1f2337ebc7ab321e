-- POST /v1/timers/batch: 100 timers a request, a payload of 256 bytes each.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-ndjson"
wrk.body = string.rep('{"after":"30d","payload":"' .. string.rep("x", 254) .. '"}\n', 100)
