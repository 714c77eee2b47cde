/** The whole result of a call, fetched when its card is open and the chat came with only a part of it: how often it is
 * tried. */

import { useQuery } from "@tanstack/react-query";

import { run } from "../../api/client";
import type { CallWhole } from "../../api/types";
import { characters } from "../../ui/amounts";
import type { CallView } from "./view";

const TRIES = 60;
const PAUSE = 500; // While a turn runs, what its calls answered is kept when all calls of the round have.

export function useFullResult(chat: string, call: CallView): { data: CallWhole | undefined; isError: boolean } {
  const partly = call.pictures > 0 || call.whole !== null || call.chars > characters(call.text) || call.began !== null;
  const { data, isError } = useQuery<CallWhole>({
    queryKey: ["chat_result", { chat, call: call.id }],
    queryFn: ({ signal }) => run("chat_result", { chat, call: call.id }, signal),
    enabled: partly,
    retry: TRIES,
    retryDelay: PAUSE,
  });
  return { data, isError };
}
