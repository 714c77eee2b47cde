import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, type ReactNode } from "react";

interface Props<T> {
  items: readonly T[];
  /** Pixels of a row at first sight; it is measured when drawn. */
  height: number;
  keyOf: (item: T, index: number) => string | number;
  draw: (item: T, index: number) => ReactNode;
  className?: string;
  role?: string;
  label?: string;
}

/** A long list that scrolls by itself, of which only what is in view is drawn. */
export function Rows<T>({ items, height, keyOf, draw, className = "", role = "list", label }: Props<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const view = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => keyOf(items[index] as T, index),
    overscan: 12,
  });
  return (
    <div ref={scroller} className={className} style={{ overflow: "auto" }} tabIndex={0} role={role} aria-label={label} aria-rowcount={role === "table" ? items.length : undefined}>
      <div style={{ height: view.getTotalSize(), position: "relative" }} role="presentation">
        {view.getVirtualItems().map((row) => (
          <div
            key={row.key}
            ref={view.measureElement}
            data-index={row.index}
            role="presentation"
            style={{ position: "absolute", top: 0, left: 0, right: 0, transform: `translateY(${row.start}px)` }}
          >
            {draw(items[row.index] as T, row.index)}
          </div>
        ))}
      </div>
    </div>
  );
}
