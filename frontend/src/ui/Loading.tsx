/** The grey bars while something loads: when they appear, and after how long a sentence follows. */

import { useEffect, useState } from "react";

import { queries } from "../api/hooks";
import { stillLoading } from "./busy";

/** Nothing for 300 ms, then grey bars at the height of what comes, after 10 s a sentence. */
export function Loading({ rows = 6, height = 52 }: { rows?: number; height?: number }) {
  const [shown, setShown] = useState<"nothing" | "bars" | "long">("nothing");
  useEffect(() => {
    const bars = setTimeout(() => setShown("bars"), 300);
    const long = setTimeout(() => setShown("long"), 10_000);
    return () => {
      clearTimeout(bars);
      clearTimeout(long);
    };
  }, []);
  return (
    <div aria-busy="true" aria-label="Loading" role="status" style={{ minHeight: rows * height }}>
      {shown === "long" && (
        <p className="secondary">
          {stillLoading(queries.getQueryData(["host_info", {}]), queries.getQueryData(["servers", {}]))}
        </p>
      )}
      {shown !== "nothing" &&
        Array.from({ length: rows }, (_, index) => (
          <div key={index} className="skeleton" style={{ height }}>
            <span style={{ width: `${34 + ((index * 17) % 30)}%` }} />
          </div>
        ))}
    </div>
  );
}
