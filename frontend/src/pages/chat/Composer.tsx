/** Where questions are written: it grows, takes pictures, chooses model and mode, and stops what runs. */

import { useEffect, useLayoutEffect, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent, type ReactNode } from "react";

import { Icon } from "../../ui/Icon";
import { Glyph } from "../../ui/Status";
import { AttachedPictures } from "./AttachedPictures";
import { ModeMenu, ModelMenu } from "./ComposerMenus";
import { attach, isPicture, type Attached } from "./smaller";
import { useNarrow } from "./widths";
import { WORDS, type ModeName } from "./words";

export interface Draft {
  text: string;
  images: Attached[];
}

interface Props {
  /** Which draft this is; each chat keeps its own while the page is open. */
  name: string;
  state: "idle" | "sending" | "running" | "asking" | "stopping";
  model: string;
  mode: ModeName | null;
  disabled: boolean;
  /** What stands in the field at first, from a link or for another try. */
  given: { text: string; count: number };
  editing: boolean;
  trouble: string;
  onCancelEdit: () => void;
  onModel: (model: string) => void;
  onMode: (mode: ModeName) => void;
  onSend: (draft: Draft) => Promise<boolean>;
  onStop: () => void;
  onLast: () => void;
  /** What else can be done, where the window has no room for a head. */
  more: ReactNode;
}

const drafts = new Map<string, string>();

export function Composer(props: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => drafts.get(props.name) ?? "");
  const [images, setImages] = useState<Attached[]>([]);
  const [trouble, setTrouble] = useState("");
  const [queued, setQueued] = useState(false);
  const narrow = useNarrow();
  const busy = props.state !== "idle";
  const placeholder = props.state === "asking" ? WORDS.next : busy ? WORDS.working : WORDS.ask;

  useEffect(() => {
    setText(drafts.get(props.name) ?? "");
    setImages([]);
    setQueued(false);
    if (matchMedia("(min-width: 821px)").matches) field.current?.focus();
  }, [props.name]);
  useEffect(() => {
    if (props.given.count === 0) return;
    setText(props.given.text);
    field.current?.focus();
  }, [props.given]);
  useEffect(() => void drafts.set(props.name, text), [props.name, text]);
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text, placeholder, narrow]);

  async function take(files: Iterable<File>) {
    setTrouble("");
    for (const file of files) {
      if (!isPicture(file)) {
        setTrouble(WORDS.notPicture);
        continue;
      }
      try {
        const one = await attach(file);
        setImages((before) => [...before, one]);
      } catch {
        setTrouble(WORDS.notPicture);
      }
    }
  }

  async function send() {
    if (!text.trim() || props.disabled) return;
    if (busy) return setQueued(true);
    const draft = { text: text.trim(), images };
    setText("");
    setImages([]);
    if (await props.onSend(draft)) return;
    setText((now) => now || draft.text);
    setImages((now) => (now.length > 0 ? now : draft.images));
  }

  // What was written meanwhile goes when the answer has ended.
  const free = !busy && queued;
  useEffect(() => {
    if (!free) return;
    setQueued(false);
    void send();
  }, [free]);

  function keys(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === "ArrowUp" && text === "" && !busy) {
      event.preventDefault();
      props.onLast();
    }
  }

  function paste(event: ClipboardEvent) {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    void take(files);
  }

  function drop(event: DragEvent) {
    event.preventDefault();
    void take(event.dataTransfer.files);
  }

  const told = trouble || props.trouble;
  return (
    <div className="cmp" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      {props.editing && (
        <p className="m t12 row" style={{ marginBottom: 6 }}>
          {WORDS.editing}
          <button type="button" className="plain linkish" onClick={props.onCancelEdit}>{WORDS.cancel}</button>
        </p>
      )}
      {queued && (
        <p className="m t12 row" style={{ marginBottom: 6 }} role="status">
          {WORDS.queued}
          <button type="button" className="plain linkish" onClick={() => setQueued(false)}>{WORDS.cancel}</button>
        </p>
      )}
      {told && <p className="trouble" role="alert" style={{ marginBottom: 8 }}>{told}</p>}
      <div className="box">
        <AttachedPictures images={images} onRemove={(id) => setImages(images.filter((one) => one.id !== id))} />
        <textarea
          ref={field}
          className="tx"
          dir="auto"
          rows={narrow && placeholder.length > 40 && text === "" ? 2 : 1}
          aria-label={WORDS.ask}
          placeholder={placeholder}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setQueued(false);
          }}
          onKeyDown={keys}
          onPaste={paste}
        />
        <div className="row">
          <Attach onFiles={take} />
          <ModelMenu model={props.model} onModel={props.onModel} />
          <ModeMenu mode={props.mode} onMode={props.onMode} />
          {props.more}
          <span className="grow" />
          {busy ? <StopButton state={props.state} onStop={props.onStop} /> : <SendButton ready={text.trim() !== "" && !props.disabled} onSend={() => void send()} />}
        </div>
      </div>
    </div>
  );
}

function Attach({ onFiles }: { onFiles: (files: Iterable<File>) => Promise<void> }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className="btn bare sm ic" aria-label={WORDS.attach} onClick={() => input.current?.click()}>
        <Icon name="attach" small />
      </button>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        multiple
        hidden
        data-attach
        onChange={(event) => {
          void onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
    </>
  );
}

/** Both words have their place, so that the button keeps its width. */
function StopButton({ state, onStop }: { state: Props["state"]; onStop: () => void }) {
  const stopping = state === "stopping";
  return (
    <button type="button" className="btn sm stop" disabled={stopping || state === "sending"} onClick={onStop}>
      <Glyph shape="stop" />
      <span className="swap">
        <span style={{ visibility: stopping ? "hidden" : "visible" }} aria-hidden={stopping}>{WORDS.stop} <kbd className="hide-s">Esc</kbd></span>
        <span style={{ visibility: stopping ? "visible" : "hidden" }} aria-hidden={!stopping}>{WORDS.stopping}</span>
      </span>
    </button>
  );
}

function SendButton({ ready, onSend }: { ready: boolean; onSend: () => void }) {
  return (
    <button type="button" className={ready ? "btn pri sm stop" : "btn sm stop"} disabled={!ready} onClick={onSend}>
      {WORDS.send} <kbd className="hide-s">↵</kbd>
    </button>
  );
}
