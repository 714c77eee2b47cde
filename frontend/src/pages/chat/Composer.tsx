/** The field where messages are written: Enter, arrow up for the last message, pasting and dropping files, drafts of
 * each chat, a message queued while the model answers, Stop. */

import {
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
} from "react";

import { Icon } from "../../ui/Icon";
import { Glyph } from "../../ui/Status";
import { AttachedFiles } from "./AttachedFiles";
import { AttachedPictures } from "./AttachedPictures";
import { ModeMenu, ModelMenu } from "./ComposerMenus";
import { MOST, taken, type Attached, type AttachedText } from "./attachments";
import { useNarrow } from "./widths";
import { TEXT, type ModeName } from "./text";
import "./composer.css";

export interface Draft {
  text: string;
  images: Attached[];
  files: AttachedText[];
}

interface Props {
  /** Which draft this is; each chat keeps its own while the page is open. */
  name: string;
  state: "idle" | "sending" | "running" | "asking" | "stopping";
  model: string;
  mode: ModeName | null;
  disabled: boolean;
  /** What to begin with, from a link or for another attempt. */
  given: Draft & { count: number };
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
  const [files, setFiles] = useState<AttachedText[]>([]);
  const [trouble, setTrouble] = useState("");
  const [queued, setQueued] = useState(false);
  const narrow = useNarrow();
  const busy = props.state !== "idle";
  const placeholder = props.state === "asking" ? TEXT.next : busy ? TEXT.working : TEXT.ask;

  useEffect(() => {
    setText(drafts.get(props.name) ?? "");
    setImages([]);
    setFiles([]);
    setTrouble("");
    setQueued(false);
    if (matchMedia("(min-width: 821px)").matches) field.current?.focus();
  }, [props.name]);
  useEffect(() => {
    if (props.given.count === 0) return;
    setText(props.given.text);
    setImages(props.given.images);
    setFiles(props.given.files);
    field.current?.focus();
  }, [props.given]);
  useEffect(() => void drafts.set(props.name, text), [props.name, text]);
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text, placeholder, narrow]);

  async function take(chosen: Iterable<File>) {
    setTrouble("");
    const found = await Promise.all([...chosen].map(taken));
    const pictures = [...images, ...found.flatMap((one) => ("picture" in one ? [one.picture] : []))];
    const texts = [...files, ...found.flatMap((one) => ("file" in one ? [one.file] : []))];
    const refused = found.flatMap((one) => ("refused" in one ? [one.refused] : []));
    if (pictures.length > MOST || texts.length > MOST) refused.push(TEXT.tooManyFiles);
    setImages(pictures.slice(0, MOST));
    setFiles(texts.slice(0, MOST));
    setTrouble(refused.join(" "));
    field.current?.focus();
  }

  async function send() {
    if (!text.trim() || props.disabled) return;
    if (busy) return setQueued(true);
    const draft = { text: text.trim(), images, files };
    setText("");
    setImages([]);
    setFiles([]);
    setTrouble("");
    if (await props.onSend(draft)) return;
    setText((now) => now || draft.text);
    setImages((now) => (now.length > 0 ? now : draft.images));
    setFiles((now) => (now.length > 0 ? now : draft.files));
  }

  // What was written meanwhile goes when the answer has ended.
  const free = !busy && queued;
  const sendQueued = useEffectEvent(send);
  useEffect(() => {
    if (!free) return;
    setQueued(false);
    void sendQueued();
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
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    void take(pasted);
  }

  function drop(event: DragEvent) {
    event.preventDefault();
    void take(event.dataTransfer.files);
  }

  const told = trouble || props.trouble;
  return (
    <div className="composer" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      {props.editing && (
        <p className="muted text-small row space-below-6">
          {TEXT.editing}
          <button
            type="button"
            className="plain-button link-button"
            onClick={() => {
              setText("");
              setImages([]);
              setFiles([]);
              props.onCancelEdit();
            }}
          >
            {TEXT.cancel}
          </button>
        </p>
      )}
      {queued && (
        <p className="muted text-small row space-below-6" role="status">
          {TEXT.queued}
          <button type="button" className="plain-button link-button" onClick={() => setQueued(false)}>
            {TEXT.cancel}
          </button>
        </p>
      )}
      {told && (
        <p className="error-box space-below-8" role="alert">
          {told}
        </p>
      )}
      <div className="composer-box">
        <AttachedPictures images={images} onRemove={(id) => setImages(images.filter((one) => one.id !== id))} />
        <AttachedFiles files={files} onRemove={(id) => setFiles(files.filter((one) => one.id !== id))} />
        <textarea
          ref={field}
          className="composer-field"
          dir="auto"
          rows={narrow && placeholder.length > 40 && text === "" ? 2 : 1}
          aria-label={TEXT.ask}
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
          {busy ? (
            <StopButton state={props.state} onStop={props.onStop} />
          ) : (
            <SendButton ready={text.trim() !== "" && !props.disabled} onSend={() => void send()} />
          )}
        </div>
      </div>
    </div>
  );
}

function Attach({ onFiles }: { onFiles: (files: Iterable<File>) => Promise<void> }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        className="btn bare small icon-only"
        aria-label={TEXT.attach}
        onClick={() => input.current?.click()}
      >
        <Icon name="attach" small />
      </button>
      <input
        ref={input}
        type="file"
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
    <button type="button" className="btn small send-button" disabled={stopping || state === "sending"} onClick={onStop}>
      <Glyph shape="stop" />
      <span className="stop-label">
        <span className={stopping ? "invisible" : ""} aria-hidden={stopping}>
          {TEXT.stop} <kbd className="hide-narrow">Esc</kbd>
        </span>
        <span className={stopping ? "" : "invisible"} aria-hidden={!stopping}>
          {TEXT.stopping}
        </span>
      </span>
    </button>
  );
}

function SendButton({ ready, onSend }: { ready: boolean; onSend: () => void }) {
  return (
    <button
      type="button"
      className={ready ? "btn primary small send-button" : "btn small send-button"}
      disabled={!ready}
      onClick={onSend}
    >
      {TEXT.send} <kbd className="hide-narrow">↵</kbd>
    </button>
  );
}
