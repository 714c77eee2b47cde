/** Text of models and tools as Markdown: no markup of theirs runs, no picture is fetched, links show their address. */

import { memo, type ReactNode } from "react";
import Renderer, { type Components } from "react-markdown";
import gfm from "remark-gfm";

import { webAddress } from "./address";
import { Copy } from "./Copy";
import { OutsideLink } from "./OutsideLink";

/** What models and tools say, as text with structure: no markup of theirs runs, and no picture is fetched. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <Renderer remarkPlugins={[gfm]} components={COMPONENTS} urlTransform={webAddress} skipHtml={false}>
      {text}
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

const COMPONENTS: Components = {
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
  a: ({ href, children, node }) => (
    <OutsideLink address={href ?? ""} text={plain(node)}>
      {children}
    </OutsideLink>
  ),
  img: ({ alt, src }) => <span className="muted">[picture: {alt || String(src ?? "")}]</span>,
  pre: ({ children, node }) => (
    <div className="code-block">
      <pre className="code wrap">{children}</pre>
      <Copy bare text={plain(node)} />
    </div>
  ),
};

interface HastNode {
  value?: string;
  children?: unknown[];
}

function plain(node: unknown): string {
  const { value, children } = (node ?? {}) as HastNode;
  return value ?? (children ?? []).map(plain).join("");
}
