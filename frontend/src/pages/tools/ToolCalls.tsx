/** The tab Calls of a tool: its latest calls. */

import { refreshOn, useOperation } from "../../api/hooks";
import { Link } from "../../app/router";
import { clockSeconds, day, duration } from "../../ui/amounts";
import { Loading } from "../../ui/Loading";
import { callState } from "../../ui/states";
import { Status } from "../../ui/Status";
import { ErrorBox } from "../../ui/ErrorBox";
import { whoText } from "../activity/callText";
import { TEXT } from "./text";

refreshOn("call", "calls", "tool_show");
refreshOn("calls", "calls", "tool_show");

/** The latest calls of one tool. */
export function ToolCalls({ name }: { name: string }) {
  const words = `tool:${name}`;
  const { data, error, refetch } = useOperation("calls", { words, limit: 20 });
  if (error) return <ErrorBox error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={4} height={44} />;
  if (data.calls.length === 0) return <p className="secondary no-calls">{TEXT.noCalls}</p>;
  return (
    <>
      <ul className="tool-calls">
        {data.calls.map((call) => {
          const state = callState(call.outcome);
          return (
            <li key={call.call_id}>
              <Link href={`/activity?call=${encodeURIComponent(call.call_id)}&words=${encodeURIComponent(words)}`}>
                <Status shape={state.shape} word={state.word} />
                <code className="ellipsis grow">{call.arguments}</code>
                <span className="muted num nowrap">{call.ms > 0 ? duration(call.ms) : "–"}</span>
                <span className="muted text-small nowrap">
                  {whoText(call.who)} ·{" "}
                  {day(call.time) === clockSeconds(call.time).slice(0, 5) ? clockSeconds(call.time) : day(call.time)}
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
      <p className="space-above-12">
        <Link href={`/activity?words=${encodeURIComponent(words)}`}>{TEXT.allCalls}</Link>
      </p>
    </>
  );
}
