import { describe, expect, it } from "vitest";

import { countGroups, groupOf, rowsOf, wayOf, type Glance, type Overview, type Row } from "./model";
import { reasonOf, sumWords } from "./words";

function glance(change: Partial<Glance>): Glance {
  return {
    name: "notes", type: "stdio", enabled: true, state: "ready", reason: "", hint: "", retry_at: null, since: null,
    up_since: null, pid: 1, version: null, restarts: 0, attempt: null, attempts: null,
    source: { kind: "command", text: "notes-mcp", version: null, imported_from: "" }, tools: 3, tokens: 900, held: [],
    missing: [], bars: [], typical_ms: null, in_flight: 0, stale_tools: false, junk_lines: 0, last_failure: null, ...change,
  };
}

const row = (change: Partial<Glance>): Row => ({ name: "notes", group: groupOf(glance(change)), server: glance(change), trial: null });

describe("a server of the list", () => {
  it("stands among those that need a person while a definition is held, and counts as up", () => {
    const changed = row({ held: ["fetch"] });
    expect(changed.group).toBe("needs");
    expect(countGroups([changed])).toMatchObject({ needs: 1, up: 1 });
    expect(wayOf(changed)?.words).toBe("See difference");
  });

  it("says exactly what the design says", () => {
    const now = Date.parse("2026-11-15T09:00:00Z");
    expect(reasonOf(glance({ state: "needs-trust", source: { kind: "command", text: "", version: null, imported_from: "Cursor" } }), now)).toBe(
      "Imported and never run. Read its command before it starts.",
    );
    expect(reasonOf(glance({ state: "needs-config", missing: ["notes.CALDAV_PASSWORD"] }), now)).toBe(
      "CALDAV_PASSWORD is not set. It will be kept in the keyring.",
    );
    expect(reasonOf(glance({ held: ["fetch"] }), now)).toBe("Running. The definition of “fetch” differs from the one you approved.");
    expect(reasonOf(glance({ state: "backoff", reason: "127.0.0.1:5432 refused the connection", attempt: 3, attempts: 5 }), now)).toBe(
      "127.0.0.1:5432 refused the connection. Try 3 of 5.",
    );
    expect(sumWords({ needs: 4, trouble: 2, working: 0, up: 5, off: 1 }, 12)).toBe("5 of 12 up. 4 are waiting for you, 2 have trouble.");
  });

  it("is there while it is being installed", () => {
    const overview = { servers: [] } as unknown as Overview;
    const trial = { name: "sentry", installing: true, state: "running" };
    expect(rowsOf(overview, [trial as never])[0]).toMatchObject({ name: "sentry", group: "working" });
  });
});
