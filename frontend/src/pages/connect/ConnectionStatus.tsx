/** Whether a program has connected: last call, calls today, number of tools offered. */

import { useOperation, usePages } from "../../api/hooks";
import { clock, day } from "../../ui/amounts";
import { Status } from "../../ui/Status";
import { offeredOf } from "./profileText";
import { TEXT } from "./text";

/** Whether a client came by this view, and how much it did. */
export function ConnectionStatus({ profile }: { profile: string }) {
  const use = useOperation("view_use", {}).data?.find((one) => one.name === profile);
  const view = useOperation("profile_list", {}).data?.find((one) => one.name === profile);
  const tools = usePages("tools", {}).data ?? [];
  return (
    <div className="row wrap" aria-live="polite">
      <b className="bold">{TEXT.status}</b>
      {use?.last_call ? (
        <>
          <Status shape="done" word="Connected" />
          <span className="muted text-small num">
            last call {use.today > 0 ? clock(use.last_call) : day(use.last_call)}, {use.today} today, offered{" "}
            {view ? offeredOf(view, tools) : ""} tools
          </span>
        </>
      ) : (
        <span className="muted text-small">{TEXT.notSeen}</span>
      )}
    </div>
  );
}
