import { expect, test } from "vitest";

import type { HostInfo, Server } from "../api/types";
import { stillLoading } from "./busy";

const info = (calls_running: number) => ({ counts: { calls_running } }) as HostInfo;
const server = (state: Server["state"]) => ({ state }) as Server;

test("what the host does meanwhile is named where it is known", () => {
  expect(stillLoading(undefined, undefined)).toBe("Still loading. The host is busy.");
  expect(stillLoading(info(2), [server("ready"), server("starting")])).toBe(
    "Still loading. The host is busy with 2 calls and 1 starting server.",
  );
});
