/** The zoom buttons of the canvas, "Fit" and the key f. */

import { useReactFlow, useStore } from "@xyflow/react";
import { useMemo } from "react";

import { useKeys } from "../../../app/keys";
import { CANVAS } from "../text/edges";

const FIT = { maxZoom: 1, padding: 0.08 } as const;

export function Zoom() {
  const flow = useReactFlow();
  const percent = useStore((state) => Math.round(state.transform[2] * 100));
  useKeys(useMemo(() => ({ f: () => void flow.fitView(FIT) }), [flow]));
  return (
    <div className="canvas-zoom">
      <button type="button" aria-label={CANVAS.zoomOut} onClick={() => void flow.zoomOut()}>
        −
      </button>
      <button
        type="button"
        className="num"
        aria-label={`${percent} %, ${CANVAS.reset}`}
        onClick={() => void flow.zoomTo(1)}
      >
        {percent} %
      </button>
      <button type="button" aria-label={CANVAS.zoomIn} onClick={() => void flow.zoomIn()}>
        +
      </button>
      <button type="button" onClick={() => void flow.fitView(FIT)}>
        {CANVAS.fit}
      </button>
    </div>
  );
}
