/** The data of a conversation as it is drawn, made of stored turns and of the one that is running; which questions are
 * open. */

import type {
  CallAskingEvent,
  CallQuestion,
  ChatTurn,
  FileInfo,
  OfferedTool,
  PictureData,
  QuestionVersion,
  RunningTurn,
  ServerAskingEvent,
  TokenUsage,
  TurnError,
} from "../../api/types";

export type Asking = CallAskingEvent | ServerAskingEvent;
export type { CallQuestion, OfferedTool };
export type ChatEvent = RunningTurn["events"][number];

export interface Answered {
  action: string;
  scope: string;
  message: string;
}

export interface TextView {
  kind: "text" | "thinking";
  key: string;
  round: number;
  text: string;
}

export interface CallView {
  kind: "call";
  key: string;
  id: string;
  tool: string;
  server: string | null;
  name: string;
  arguments: Record<string, unknown>;
  outcome: string;
  ms: number;
  /** When it began, by the clock of this page; null for one that was over before. */
  began: number | null;
  text: string;
  /** Characters of all that the model was shown. */
  chars: number;
  whole: number | null;
  /** The rule that decided it: an id, or the name of a built-in one; `asked` when the user did. */
  rule: string;
  pictures: number;
  byHand: boolean;
  /** How far it is; of one that was stopped, how far it had come. */
  progress: { done: number; total: number | null; message: string | null } | null;
  asking: Asking | null;
  answered: Answered | null;
}

export interface NoteView {
  kind: "note";
  key: string;
  note: "stopped" | "failed" | "shortened" | "again" | "notice" | "continued";
  text: string;
  time: string | null;
}

export interface QuestionView {
  kind: "question";
  key: string;
  asking: Asking;
}

export type ItemView = TextView | CallView | NoteView | QuestionView;

/** What a turn was before it was continued, or before a call by hand. */
export interface BeforeContinued {
  ending: string | null;
  usage: TokenUsage | null;
  cost: number | null;
  model: string;
  error: TurnError | null;
  items: number;
}

export interface TurnView {
  /** The position of its question in the chat; null while it runs. */
  position: number | null;
  /** Entries of the chat up to its end, to fork there; null while it runs. */
  until: number | null;
  question: { text: string; images: PictureData[]; files: FileInfo[] } | null;
  /** All versions of a question that was asked again; empty for others. */
  versions: QuestionVersion[];
  time: string | null;
  offered: OfferedTool[];
  of: number;
  note: string;
  items: ItemView[];
  model: string;
  running: boolean;
  /** The model is busy and is asked again then. */
  busy: { reason: string; until: number } | null;
  round: number;
  ending: string | null;
  usage: TokenUsage | null;
  cost: number | null;
  error: TurnError | null;
  before: BeforeContinued;
}

export function newTurn(): TurnView {
  return {
    position: null,
    until: null,
    question: null,
    versions: [],
    time: null,
    offered: [],
    of: 0,
    note: "",
    items: [],
    model: "",
    running: true,
    busy: null,
    round: 0,
    ending: null,
    usage: null,
    cost: null,
    error: null,
    before: { ending: null, usage: null, cost: null, model: "", error: null, items: 0 },
  };
}

/** A turn that is over, as it was kept. */
export function keptTurn(turn: ChatTurn): TurnView {
  const items = turn.items.map((item, index): ItemView => {
    if (item.kind === "text" || item.kind === "thinking")
      return { kind: item.kind, key: `t${index}`, round: 0, text: item.text };
    if (item.kind === "note") return { ...item, key: `n${index}` };
    return {
      ...item,
      key: item.id,
      began: null,
      pictures: item.images.length,
      byHand: item.by_hand,
      progress: null,
      asking: null,
      answered: null,
    };
  });
  return {
    ...newTurn(),
    position: turn.position,
    until: turn.until,
    question: turn.question && {
      text: turn.question.text,
      images: turn.question.images,
      files: turn.question.files ?? [],
    },
    versions: turn.versions ?? [],
    time: turn.time,
    offered: turn.offered,
    of: turn.of,
    note: turn.note,
    items,
    model: turn.model,
    running: false,
    ending: turn.ending,
    usage: turn.usage,
    cost: turn.cost,
  };
}

/** What was known of its calls only while the turn ran: when the same turn is read again, it is kept. */
export function remembering(fresh: TurnView, before: TurnView | undefined): TurnView {
  if (!before) return fresh;
  const known = new Map(before.items.flatMap((item) => (item.kind === "call" ? [[item.id, item] as const] : [])));
  const items = fresh.items.map((item) => {
    const old = item.kind === "call" ? known.get(item.id) : undefined;
    return item.kind === "call" && old ? { ...item, answered: old.answered, progress: old.progress } : item;
  });
  return { ...fresh, items, error: fresh.error ?? before.error };
}

/** The questions of a turn that wait for an answer, the oldest first. */
export function openQuestions(turn: TurnView | undefined): Asking[] {
  if (!turn?.running) return [];
  return turn.items.flatMap((item) => {
    if (item.kind === "question") return [item.asking];
    return item.kind === "call" && item.asking ? [item.asking] : [];
  });
}

/** Whether an entry of a chat belongs to this turn. */
export function isIn(turn: TurnView, entry: number): boolean {
  return turn.position !== null && turn.until !== null && turn.position <= entry && entry < turn.until;
}
