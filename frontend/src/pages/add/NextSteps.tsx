/** What to do with a server that was just added and works: ask something with it, try a read-only tool, add another; or
 * what it still needs. */

import { refreshOn, useOperation } from "../../api/hooks";
import type { ToolInfo } from "../../api/types";
import { navigate } from "../../app/router";
import { plural } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { NEXT } from "./text";

refreshOn("tools", "tools");

interface Props {
  name: string;
  onClose: () => void;
  onAgain?: (() => void) | undefined;
}

export function NextSteps({ name, onClose, onAgain }: Props) {
  const { data: tools = [] } = useOperation("tools", { server: name });
  const { data: overview } = useOperation("overview", {});
  const server = overview?.servers.find((one) => one.name === name);
  const held = tools.filter((tool) => tool.held).length;
  const usable = tools.filter((tool) => tool.enabled && !tool.held);
  const reading = usable.find(readsOnly);
  const sample = reading ?? usable[0];
  const go = (address: string) => () => {
    onClose();
    navigate(address);
  };
  const page = `/servers/${encodeURIComponent(name)}`;
  if (server?.state.startsWith("needs-")) {
    return (
      <section className="next-steps" aria-label={NEXT.title}>
        <p className="secondary">{NEXT.needs(reveal(server.reason))}</p>
        <button type="button" className="btn" onClick={go(page)}>
          {NEXT.open(name)}
        </button>
      </section>
    );
  }
  return (
    <section className="next-steps" aria-label={NEXT.title}>
      {held > 0 && (
        <button type="button" className="btn" onClick={go(page)}>
          {NEXT.review(plural(held, "tool"))}
        </button>
      )}
      {sample && (
        <button
          type="button"
          className="btn"
          onClick={go(`/chat?ask=${encodeURIComponent(NEXT.question(name, sample.original_name))}`)}
        >
          {NEXT.ask}
        </button>
      )}
      {reading && (
        <button type="button" className="btn" onClick={go(`/tools?tool=${encodeURIComponent(reading.name)}`)}>
          {NEXT.try(reveal(reading.original_name))}
        </button>
      )}
      {onAgain && (
        <button type="button" className="btn" onClick={onAgain}>
          {NEXT.another}
        </button>
      )}
    </section>
  );
}

/** The server says so itself; a call of it still goes through the approvals. */
function readsOnly({ annotations }: ToolInfo): boolean {
  return annotations["readOnlyHint"] === true;
}
