/** The buttons "Included with Toolcrib" below the paste field: bundled servers that are not added yet. */

import { useOperation } from "../../api/hooks";
import { reveal } from "../../ui/hidden";
import type { Listed } from "./types";
import { INCLUDED } from "./text";

/** The servers that come with Toolcrib and are not added yet; one click adds one. */
export function Included({ busy, onAdd }: { busy: boolean; onAdd: (listed: Listed) => void }) {
  const listed = useOperation("search_servers", { query: "", registry: false }).data?.servers ?? [];
  const isAdded = useAdded();
  const offered = listed.filter((one) => one.bundled && !one.setting && !isAdded(one));
  if (offered.length === 0) return null;
  return (
    <>
      <p className="muted text-small space-above-14" id="included">
        {INCLUDED.title}
      </p>
      <ul className="included-list" aria-labelledby="included">
        {offered.map((one) => (
          <li key={one.name}>
            <button type="button" className="btn small" disabled={busy} title={one.about} onClick={() => onAdd(one)}>
              {reveal(one.title || one.name)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Whether there is a server of this name already, or a part of the host. */
export function useAdded(): (listed: Listed) => boolean {
  const { data } = useOperation("overview", {});
  const names = new Set([...(data?.servers ?? []), ...(data?.built_in ?? [])].map((one) => one.name));
  return (listed) => names.has(listed.name);
}
