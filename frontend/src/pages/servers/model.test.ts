import { describe, expect, it } from "vitest";

import { serverState } from "../../ui/states";
import { countGroups, rowsOf, wayOf, type Glance, type Overview, type Row } from "./model";
import { reasonOf, setupReason, summaryText } from "./text";

const HELD = { tool: "fetch", reason: "its definition changed since it was approved" };

function glance(change: Partial<Glance>): Glance {
  return {
    name: "notes",
    type: "stdio",
    enabled: true,
    state: "ready",
    reason: "",
    hint: "",
    needs: "",
    retry_at: null,
    since: null,
    up_since: null,
    pid: 1,
    version: null,
    restarts: 0,
    attempt: null,
    attempts: null,
    source: { kind: "command", text: "notes-mcp", version: null, imported_from: "" },
    newest: null,
    touches: [],
    tools: 3,
    tokens: 900,
    held: [],
    checking: 0,
    missing: [],
    bars: [],
    typical_ms: null,
    in_flight: 0,
    stale_tools: false,
    junk_lines: 0,
    last_failure: null,
    ...change,
  };
}

const row = (change: Partial<Glance>): Row => rowsOf({ servers: [glance(change)] } as Overview, [])[0] as Row;

describe("a server of the list", () => {
  it("stands among those that need a person while a definition is held, and counts as up", () => {
    const changed = row({ held: [HELD] });
    expect(changed.group).toBe("needs");
    expect(countGroups([changed])).toMatchObject({ needs: 1, up: 1 });
    expect(wayOf(changed)?.words).toBe("See difference");
  });

  it("says who turned it off, if that is known", () => {
    const off = { state: "disabled", enabled: false } as const;
    const [by, at] = [glance(off), glance({ ...off, since: "2026-11-15T09:00:00Z" })].map((one) => reasonOf(one, 0));
    expect(by).toBe("It is turned off in the config file. Its 3 tools are not offered.");
    expect(at).toMatch(/^You turned it off .+\. Its 3 tools are not offered\.$/);
  });

  it("says exactly what the design says", () => {
    const now = Date.parse("2026-11-15T09:00:00Z");
    expect(
      reasonOf(
        glance({ state: "needs-trust", source: { kind: "command", text: "", version: null, imported_from: "Cursor" } }),
        now,
      ),
    ).toBe("Imported, not run yet. Review its command before it starts.");
    expect(reasonOf(glance({ state: "needs-config", missing: ["notes.CALDAV_PASSWORD"] }), now)).toBe(
      "CALDAV_PASSWORD is not set. It will be stored as a secret.",
    );
    expect(reasonOf(glance({ held: [HELD] }), now)).toBe(
      "Running. “fetch” is held for review: its definition changed since it was approved.",
    );
    expect(
      reasonOf(
        glance({ state: "backoff", reason: "127.0.0.1:5432 refused the connection", attempt: 3, attempts: 5 }),
        now,
      ),
    ).toBe("127.0.0.1:5432 refused the connection. Attempt 3 of 5.");
    expect(summaryText({ needs: 4, trouble: 2, working: 0, up: 5, off: 1 }, 12)).toBe(
      "5 of 12 up. 4 need you, 2 have problems.",
    );
  });

  it("is there while it is being installed", () => {
    const overview = { servers: [] } as unknown as Overview;
    const setup = { name: "sentry", installing: true, state: "running" };
    expect(rowsOf(overview, [setup as never])[0]).toMatchObject({ name: "sentry", group: "working" });
  });

  it("stays in view when it could not be installed, until somebody has seen why", () => {
    const overview = { servers: [] } as unknown as Overview;
    const setup = {
      name: "sentry",
      kind: "add",
      steps: [],
      installing: false,
      state: "failed",
      error: { kind: "install_failed", message: "npm failed" },
    };
    const [failed] = rowsOf(overview, [setup as never]);
    expect(failed).toMatchObject({ name: "sentry", group: "trouble" });
    expect(failed && wayOf(failed)?.words).toBe("See why");
    expect(setupReason(setup as never)).toBe("sentry could not be installed. Npm failed.");
  });

  it("says what it reaches, or that an update is known", () => {
    const now = Date.parse("2026-11-15T09:00:00Z");
    const up = { up_since: "2026-11-15T08:19:00Z" };
    expect(reasonOf(glance({ ...up, touches: ["/srv/a", "/srv/b"] }), now)).toBe("Up 41 min. /srv/a, /srv/b");
    expect(reasonOf(glance({ ...up, newest: "0.0.94" }), now)).toBe("Up 41 min. Update available: 0.0.94.");
  });

  it("stands in its group by what it waits for", () => {
    const states = ["ready", "needs-config", "needs-auth", "needs-trust"] as const;
    const rows = states.map((state) => row({ state, held: state === "ready" ? [HELD] : [] }));
    const sorted = [...rows].sort((one, other) => one.rank - other.rank).map((one) => one.server?.state);
    expect(sorted).toEqual(["needs-trust", "needs-auth", "needs-config", "ready"]);
  });
});

describe("a server that needs something from the user", () => {
  it.each([
    ["account", "Add account…"],
    ["display", "Choose display…"],
    ["folder", "Fix entry"],
  ])("an %s is asked for by one button", (needs, words) => {
    const found = row({ state: "needs-config", needs, reason: "There is none." });
    expect(found.group).toBe("needs");
    expect(wayOf(found)?.words).toBe(words);
    expect(serverState("needs-config", 0, null, needs).word).toBe(`Needs ${needs === "account" ? "an" : "a"} ${needs}`);
  });
});
