/** One real call of the demo server, made when somebody looks. */

import { useQuery } from "@tanstack/react-query";

import { run } from "../../api/client";

export const ASKED = { a: 17, b: 23 } as const;

export interface Sample {
  answer: string;
  ms: number;
}

export function useSample() {
  return useQuery<Sample, Error>({
    queryKey: ["welcome sample"],
    queryFn: async () => {
      const result = await run("call", { tool: "demo__add", arguments: ASKED, principal: "page" });
      const recorded = await run("audit", { limit: 1, tool: "demo__add" });
      const [first] = result.content;
      return { answer: String(first?.["text"] ?? ""), ms: recorded[0]?.ms ?? 0 };
    },
    staleTime: Infinity,
  });
}
