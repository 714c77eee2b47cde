/** A formula, drawn by the browser as MathML once what makes it is loaded; until then, and if it is not valid TeX, its
 * source. Limits sizes and expansions, and lets no link, class or id of a formula into the page. */

import { memo, useLayoutEffect, useRef, useState } from "react";

import { lazily } from "./lazily";
import type { Formula } from "./formulas";

const useTemml = lazily(() => import("temml/temml.js"));
const LARGEST: [number, number] = [40, 40];
const MOST_MACROS = 200;
/** What a formula may say about its parts; `class` is only what Temml itself writes, as nothing else is trusted. */
const FORBIDDEN = /^(on.*|id|href|src|xlink:.*|name|target|action|style)$/i;

export const Maths = memo(function Maths({ tex, display, source }: Formula) {
  const temml = useTemml(true);
  const place = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState(false);
  useLayoutEffect(() => {
    if (!temml || !place.current) return;
    const element = document.createElement("span");
    try {
      temml.default.render(tex, element, {
        displayMode: display,
        throwOnError: true,
        trust: false,
        maxSize: LARGEST,
        maxExpand: MOST_MACROS,
        macros: {},
      });
      place.current.replaceChildren(...harmless(element).childNodes);
      setDrawn(true);
    } catch {
      setDrawn(false);
    }
  }, [temml, tex, display]);
  return (
    <>
      <span ref={place} className={display ? "maths-block" : "maths"} dir="ltr" hidden={!drawn} />
      {!drawn && <code className="maths-source">{source}</code>}
    </>
  );
});

/** The drawing without what could act, name or lead anywhere. */
function harmless(drawing: Element): Element {
  for (const element of drawing.querySelectorAll("*")) {
    if (element.namespaceURI !== "http://www.w3.org/1998/Math/MathML") element.replaceWith(element.textContent);
    for (const { name } of [...element.attributes]) if (FORBIDDEN.test(name)) element.removeAttribute(name);
  }
  return drawing;
}
