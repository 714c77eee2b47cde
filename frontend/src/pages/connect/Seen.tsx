import { useOperation } from "../../api/hooks";
import { clock, day } from "../../ui/amounts";
import { Status } from "../../ui/Status";
import { offeredOf } from "./views";
import { WORDS } from "./words";

/** Whether a client came by this view, and how much it did. */
export function Seen({ profile }: { profile: string }) {
  const use = useOperation("view_use", {}).data?.find((one) => one.name === profile);
  const view = useOperation("profile_list", {}).data?.find((one) => one.name === profile);
  const tools = useOperation("tools", {}).data ?? [];
  return (
    <div className="row wrap" aria-live="polite">
      <b className="bb">{WORDS.seen}</b>
      {use?.last_call ? (
        <>
          <Status shape="done" word="Connected" />
          <span className="m t12 num">
            last call {use.today > 0 ? clock(use.last_call) : day(use.last_call)}, {use.today} today, offered {view ? offeredOf(view, tools) : ""} tools
          </span>
        </>
      ) : (
        <span className="m t12">{WORDS.notSeen}</span>
      )}
    </div>
  );
}
