/** The sample call of the demo server on the Welcome page and its numbers, made when the page is shown. */

import { useQuery } from "@tanstack/react-query";

import { run } from "../../api/client";
import type { Call } from "../../api/types";
import { allowedBy } from "../activity/callText";

export const ASKED = { a: 17, b: 23 } as const;

/** Who makes it: opening a page is no act of the user. */
const CALLER = "welcome page";

export interface Sample {
  answer: string;
  ms: number;
  /** What let it run. */
  allowed: string;
}

function allowedText(call: Call | undefined): string {
  if (!call?.gate?.rule || call.gate.number !== null) return call ? allowedBy(call) : "";
  return `built-in rule “${allowedBy(call)}”`;
}

export function useSample() {
  return useQuery<Sample, Error>({
    queryKey: ["welcome sample"],
    queryFn: async () => {
      const result = await run("call", { tool: "demo__add", arguments: ASKED, principal: CALLER });
      const { calls } = await run("calls", { limit: 1, words: `server:demo who:"${CALLER}"`, count: false });
      const [first] = result.content;
      return { answer: String(first?.["text"] ?? ""), ms: calls[0]?.ms ?? 0, allowed: allowedText(calls[0]) };
    },
    staleTime: "static", // Made once: whatever makes other answers stale is no reason to call again.
  });
}
