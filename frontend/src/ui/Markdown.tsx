/** Text of models and tools as Markdown, with code, tables and maths: no markup of theirs runs, no picture is fetched,
 * links show their address. */

import { memo, useMemo, type ReactNode } from "react";
import Renderer, { type Components } from "react-markdown";
import gfm from "remark-gfm";

import { webAddress } from "./address";
import { CodeBlock } from "./CodeBlock";
import { Maths } from "./Maths";
import { atMarks, markedMaths, withoutMarks, type Formula } from "./formulas";
import { OutsideLink } from "./OutsideLink";

/** What models and tools say, as text with structure: no markup of theirs runs, and no picture is fetched. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const maths = useMemo(() => markedMaths(text), [text]);
  return (
    <Renderer
      remarkPlugins={maths ? [gfm, [placeMaths, maths.formulas]] : [gfm]}
      components={COMPONENTS}
      urlTransform={webAddress}
      skipHtml={false}
    >
      {maths?.text ?? text}
    </Renderer>
  );
});

/** Its direction follows its own first letters: one answer may hold both. */
const inItsDirection = (
  Tag: "p" | "li" | "ul" | "ol" | "blockquote" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "td" | "th",
) =>
  function Directed({ node: _, ...rest }: { node?: unknown; children?: ReactNode }) {
    return <Tag {...rest} dir="auto" />;
  };

const COMPONENTS = {
  p: inItsDirection("p"),
  li: inItsDirection("li"),
  ul: inItsDirection("ul"),
  ol: inItsDirection("ol"),
  blockquote: inItsDirection("blockquote"),
  h1: inItsDirection("h1"),
  h2: inItsDirection("h2"),
  h3: inItsDirection("h3"),
  h4: inItsDirection("h4"),
  h5: inItsDirection("h5"),
  h6: inItsDirection("h6"),
  td: inItsDirection("td"),
  th: inItsDirection("th"),
  table: ({ children }) => (
    <div className="table-scroll" role="region" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  a: ({ href, children, node }) => (
    <OutsideLink address={href ?? ""} text={plain(node)}>
      {children}
    </OutsideLink>
  ),
  img: ({ alt, src }) => <span className="muted">[picture: {alt || String(src ?? "")}]</span>,
  pre: ({ node }) => <CodeBlock code={plain(node).replace(/\n$/, "")} language={languageOf(node)} />,
  "x-maths": ({ tex, display, source }: { tex: string; display: string; source: string }) => (
    <Maths tex={tex} display={display === "block"} source={source} />
  ),
} as Components;

interface HastNode {
  value?: string;
  children?: unknown[];
  properties?: { className?: unknown };
}

function plain(node: unknown): string {
  const { value, children } = (node ?? {}) as HastNode;
  return value ?? (children ?? []).map(plain).join("");
}

/** The word after the fence. */
function languageOf(node: unknown): string {
  const [code] = ((node ?? {}) as HastNode).children ?? [];
  const names = ((code ?? {}) as HastNode).properties?.className;
  const found = Array.isArray(names) ? names.map(String).find((name) => name.startsWith("language-")) : undefined;
  return found?.slice("language-".length) ?? "";
}

interface MdastNode {
  type: string;
  children?: MdastNode[];
  [key: string]: unknown;
}

/** Puts formulas into the places of their marks; in code and addresses, as they were written. */
function placeMaths(formulas: Formula[]) {
  return function place(node: MdastNode): void {
    for (const key of ["value", "url", "title", "alt"]) {
      const text = node[key];
      if (typeof text === "string") node[key] = withoutMarks(text, formulas);
    }
    if (!node.children) return;
    node.children = node.children.flatMap((child) =>
      child.type === "text" && typeof child["value"] === "string"
        ? atMarks(child["value"], formulas).map((part) => (typeof part === "string" ? text(part) : maths(part)))
        : [child],
    );
    for (const child of node.children) if (child.type !== "text") place(child);
  };
}

function text(value: string): MdastNode {
  return { type: "text", value };
}

function maths({ tex, display, source }: Formula): MdastNode {
  const properties = { tex, display: display ? "block" : "inline", source };
  return { type: "maths", data: { hName: "x-maths", hProperties: properties } };
}
