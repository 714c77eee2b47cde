/** A state as shape, word and color, never as color alone; which shape has which color. */

export type Shape = "ok" | "done" | "need" | "work" | "retry" | "fail" | "off" | "deny" | "stop" | "wait" | "asked";

const TONES: Record<Shape, string> = {
  ok: "ok",
  done: "ok",
  need: "need",
  work: "work",
  retry: "fail",
  fail: "fail",
  off: "off",
  deny: "off",
  stop: "off",
  wait: "off",
  asked: "off",
};

export function Glyph({ shape }: { shape: Shape }) {
  return (
    <svg className={shape === "work" ? "glyph spin" : "glyph"} aria-hidden="true">
      <use href={`#s-${shape}`} />
    </svg>
  );
}

export function Status({ shape, word }: { shape: Shape; word: string }) {
  return (
    <span className={`status ${TONES[shape]}`}>
      <Glyph shape={shape} />
      {word}
    </span>
  );
}
