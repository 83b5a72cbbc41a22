/** Progress for people: on a terminal only, by bytes, with rate and remaining time. */
import { SingleBar } from 'cli-progress';
import type { Listener } from '../pipeline/report.ts';
import { silent } from '../pipeline/report.ts';
import { formatBytes } from './people.ts';

const words = {
  looking: 'looking for stores',
  linking: 'linking sessions',
  reading: 'reading',
  writing: 'writing',
} as const;

/** A listener that draws a bar on standard error; silent where that is no terminal or `quiet` is set. */
export function progressListener(quiet: boolean): Listener & { stop(): void } {
  if (quiet || !process.stderr.isTTY) return { ...silent, stop: () => undefined };
  let bar: SingleBar | null = null;
  const stop = (): void => {
    bar?.stop();
    bar = null;
  };
  // Ended by a signal: the cursor of the terminal must not stay hidden.
  process.once('exit', stop);
  return {
    phase(name, bytes) {
      stop();
      if (bytes === null || bytes === 0) return;
      const started = Date.now();
      bar = new SingleBar({
        stream: process.stderr,
        clearOnComplete: true,
        hideCursor: true,
        format: (options, params) => {
          const width = 30;
          const filled = Math.round(params.progress * width);
          const seconds = (Date.now() - started) / 1000;
          const rate = seconds > 0.5 ? `${formatBytes(params.value / seconds)}/s` : '';
          const rest =
            seconds > 2 && params.value > 0
              ? `, ${Math.ceil(((params.total - params.value) / params.value) * seconds)} s left`
              : '';
          const text =
            (options.barCompleteString ?? '').slice(0, filled) +
            (options.barIncompleteString ?? '').slice(0, width - filled);
          return `${words[name]} ${text} ${Math.floor(params.progress * 100)}% of ${formatBytes(params.total)} ${rate}${rest}`;
        },
      });
      bar.start(bytes, 0);
    },
    progress(bytes) {
      bar?.update(Math.min(bytes, bar.getTotal()));
    },
    stop() {
      process.off('exit', stop);
      stop();
    },
  };
}
