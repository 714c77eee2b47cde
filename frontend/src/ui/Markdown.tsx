import { memo } from "react";
import Renderer, { type Components } from "react-markdown";
import gfm from "remark-gfm";

import { Copy } from "./Copy";

/** What models and tools say, as text with structure: no markup of theirs runs, and no picture is fetched. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <Renderer remarkPlugins={[gfm]} components={COMPONENTS} urlTransform={safeAddress} skipHtml={false}>
      {text}
    </Renderer>
  );
});

const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ alt, src }) => <span className="m">[picture: {alt || String(src ?? "")}]</span>,
  pre: ({ children, node }) => (
    <div className="md-code">
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

/** Only addresses that a person may follow; anything else becomes plain text. */
export function safeAddress(address: string): string {
  return /^(https?:|mailto:)/i.test(address) ? address : "";
}
