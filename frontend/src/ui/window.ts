/** Renders only the visible rows of a long list that scrolls together with the content above it, and from how many
 * rows on. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useState, type RefObject } from "react";

const FEW = 100; // Rows that are all drawn: searching in the page and a reader's lists then work as usual.

export interface WindowRow {
  index: number;
  key: string | number;
}

export interface Window {
  rows: WindowRow[];
  /** Pixels of the rows that are not drawn, before and after. */
  before: number;
  after: number;
  /** For each drawn row's element, which has `data-index`. */
  measure: (element: Element | null) => void;
  show: (index: number) => void;
}

interface Options {
  count: number;
  height: number;
  keyOf: (index: number) => string | number;
  /** The list's own element. */
  anchor: RefObject<HTMLElement | null>;
}

export function useWindow({ count, height, keyOf, anchor }: Options): Window {
  const long = count > FEW;
  const [margin, setMargin] = useState(0);
  const view = useVirtualizer({
    count,
    enabled: long,
    getScrollElement: () => scrollerOf(anchor.current),
    estimateSize: () => height,
    getItemKey: keyOf,
    scrollMargin: margin,
    overscan: 12,
  });
  useLayoutEffect(() => {
    const list = anchor.current;
    const scroller = scrollerOf(list);
    if (!list || !scroller || !long) return;
    const place = () =>
      setMargin(
        Math.round(list.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop),
      );
    place();
    const observer = new ResizeObserver(place);
    observer.observe(scroller);
    return () => observer.disconnect();
  }, [anchor, long]);
  if (!long) {
    const rows = Array.from({ length: count }, (_, index) => ({ index, key: keyOf(index) }));
    return { rows, before: 0, after: 0, measure: () => undefined, show: () => undefined };
  }
  const items = view.getVirtualItems();
  const first = items[0]?.start ?? margin;
  const last = items.at(-1)?.end ?? margin;
  return {
    rows: items.map((item) => ({ index: item.index, key: item.key as string | number })),
    before: Math.max(0, first - margin),
    after: Math.max(0, view.getTotalSize() - (last - margin)),
    measure: view.measureElement,
    show: (index) => view.scrollToIndex(index, { align: "auto" }),
  };
}

export function scrollerOf(element: Element | null): HTMLElement | null {
  for (let one = element?.parentElement ?? null; one; one = one.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(one).overflowY)) return one;
  }
  return null;
}
