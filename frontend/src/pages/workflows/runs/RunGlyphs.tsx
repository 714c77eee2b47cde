/** The last runs of a workflow as small shapes, the newest last, and how many. */

import type { RunSummary } from "../../../api/types";
import { Glyph } from "../../../ui/Status";
import { runsLabel, runState } from "./states";

/** The last runs as glyphs, the newest last. */
export function RunGlyphs({ runs }: { runs: readonly RunSummary[] }) {
  const shown = runs.slice(0, 14).reverse();
  if (shown.length === 0) return null;
  return (
    <span className="run-glyphs" role="img" aria-label={runsLabel(shown)} title={runsLabel(shown)}>
      {shown.map((run) => (
        <Glyph key={run.run} shape={runState(run.state).shape} />
      ))}
    </span>
  );
}
