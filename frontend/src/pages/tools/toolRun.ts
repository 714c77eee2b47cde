/** Tries of tools: start, stop, approval in between, progress, measured time, and which error counts as which outcome.
 * Each goes through the host's approval check. */

import { useCallback, useEffect, useRef, useState } from "react";

import { stream } from "../../api/client";
import { ApiError } from "../../api/errors";
import type { CallProgress, CallQuestion, ServerAskingEvent } from "../../api/types";
import { keepResult, keptResult, type Ended, type Outcome } from "./keptResults";

export interface Trial {
  running: boolean;
  since: number;
  progress: CallProgress | null;
  question: CallQuestion | null;
  /** What the tool's server asks while it works. */
  serverQuestion: ServerAskingEvent | null;
  ended: Ended | null;
}

const IDLE: Trial = { running: false, since: 0, progress: null, question: null, serverQuestion: null, ended: null };

export function useTrial(tool: string): {
  trial: Trial;
  start: (values: Record<string, unknown>) => void;
  stop: () => void;
} {
  const [trial, setTrial] = useState<Trial>(() => ({ ...IDLE, ended: keptResult(tool) }));
  const control = useRef<AbortController | null>(null);
  useEffect(() => {
    setTrial({ ...IDLE, ended: keptResult(tool) });
    return () => control.current?.abort();
  }, [tool]);

  const start = useCallback(
    (values: Record<string, unknown>) => {
      control.current?.abort();
      const mine = (control.current = new AbortController());
      let began: number | null = performance.now(); // Null while a question waits: none of that is the tool's time.
      const change = (change: Partial<Trial>) =>
        mine === control.current && setTrial((before) => ({ ...before, ...change }));
      const end = (ended: Omit<Ended, "at" | "ms">, ms = began === null ? 0 : performance.now() - began) => {
        const whole = { ...ended, ms, at: new Date() };
        keepResult(tool, whole);
        change({ running: false, question: null, serverQuestion: null, progress: null, ended: whole });
      };
      setTrial((before) => ({
        ...before,
        running: true,
        since: Date.now(),
        progress: null,
        question: null,
        serverQuestion: null,
      }));
      stream(
        "try_tool",
        { tool, arguments: values },
        (news) => {
          if ("asking" in news) {
            began = null;
            change({ question: news.asking });
          } else if ("server_asking" in news) {
            change({ serverQuestion: news.server_asking });
          } else if ("answered" in news) {
            if (began === null && news.allowed) {
              began = performance.now();
              change({ since: Date.now() });
            }
            change({ question: null, serverQuestion: null });
          } else change({ progress: news });
        },
        mine.signal,
      ).then(
        (tried) => end({ outcome: tried.outcome, result: tried.result, error: null }, tried.ms),
        (error: unknown) =>
          end({
            outcome: outcomeOf(error, mine.signal.aborted),
            result: null,
            error: told(error, mine.signal.aborted),
          }),
      );
    },
    [tool],
  );
  const stop = useCallback(() => control.current?.abort(), []);
  return { trial, start, stop };
}

function outcomeOf(error: unknown, stopped: boolean): Outcome {
  if (stopped) return "cancelled";
  if (!(error instanceof ApiError)) return "failed";
  if (error.kind === "denied") return "denied";
  if (error.kind === "timeout") return "timeout";
  return error.kind === "invalid_arguments" ? "invalid" : "failed";
}

function told(error: unknown, stopped: boolean): Ended["error"] {
  if (stopped) return null;
  if (error instanceof ApiError) return { message: error.message, hint: error.hint };
  return { message: error instanceof Error ? error.message : String(error), hint: "" };
}
