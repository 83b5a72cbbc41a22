/** Which entries are on the live branch, by the rules of OpenClaw's own reader (writer). */
import { dig, field, type Json, nameField, stringField } from '../dialects/json.ts';

const CANONICAL = new Set([
  'branch_summary',
  'compaction',
  'custom',
  'custom_message',
  'label',
  'message',
  'model_change',
  'reset',
  'session_info',
  'thinking_level_change',
]);

/** Goes through the entries in their order with a leaf and a place where the next one is appended. */
export class Navigation {
  /** Rows that move the leaf stand here with what they moved it to. */
  private readonly parents = new Map<string, string | null>();
  private readonly markers = new Set<string>();
  private readonly models = new Map<string, string>();
  private leaf: string | null = null;
  private cursor: string | null = null;
  /** The latest reset and what hangs on it; null before the first. */
  private window: Set<string> | null = null;
  private isTree = false;

  add(entry: Json): void {
    const id = nameField(entry, 'id');
    const type = stringField(entry, 'type') ?? '';
    if (id === null || type === 'session') return;
    const hasParent = Object.hasOwn(entry, 'parentId');
    if (type === 'leaf') {
      if (hasParent) this.move(id, entry);
      return;
    }
    const isCanonical = CANONICAL.has(type);
    if (!isCanonical && !hasParent) return;
    const isSide = stringField(entry, 'appendMode') === 'side';
    const named = hasParent ? nameField(entry, 'parentId') : this.leaf;
    const parent = isCanonical ? this.targetOf(this.hangsOnLeaf(named, isSide, hasParent) ? this.leaf : named) : named;
    this.parents.set(id, parent);
    if (type === 'reset') this.window = new Set([id]);
    else if (parent !== null && this.window?.has(parent) === true) this.window.add(id);
    this.noteModel(id, entry, parent);
    this.cursor = id;
    if (!isCanonical || isSide) return;
    this.leaf = id;
    if (hasParent) this.isTree = true;
  }

  /** Ids from the leaf up; null where no entry says where it hangs: all of them are live then. */
  live(): ReadonlySet<string> | null {
    if (!this.isTree) return null;
    const live = new Set<string>();
    let at = this.leaf;
    // What an ancestor that is missing hung on is not known: the branch ends there.
    while (at !== null && !live.has(at) && this.parents.has(at)) {
      live.add(at);
      at = this.parents.get(at) ?? null;
    }
    return live;
  }

  /** The model that was chosen last on the branch of an entry. */
  modelOf(id: string): string | null {
    return this.models.get(id) ?? null;
  }

  private hangsOnLeaf(parent: string | null, isSide: boolean, isNamed: boolean): boolean {
    if (isSide) return false;
    const isOutside = this.window !== null && (parent === null || !this.window.has(parent));
    const isMissing = parent !== null && !this.parents.has(parent) && this.leaf !== null;
    const isAppended = isNamed && parent === this.cursor && this.leaf !== this.cursor;
    return isOutside || isMissing || isAppended;
  }

  /** A row that makes another entry the leaf. */
  private move(id: string, entry: Json): void {
    const given = field(entry, 'targetId');
    const append = field(entry, 'appendParentId');
    let target = given === null ? null : nameField(entry, 'targetId');
    let cursor = append === undefined ? target : append === null ? null : nameField(entry, 'appendParentId');
    if ((given !== null && target === null) || (append !== undefined && append !== null && cursor === null)) return;
    if (this.window !== null && this.leaf !== null && (target === null || !this.window.has(target))) {
      target = this.leaf;
      cursor = this.leaf;
    }
    // Nor can it be a row of this kind that led nowhere.
    if ([target, cursor].some((to) => to !== null && !this.parents.has(to))) return;
    this.markers.add(id);
    this.parents.set(id, target);
    if (target !== null && this.window?.has(target) === true) this.window.add(id);
    this.noteModel(id, entry, target);
    this.leaf = target;
    this.cursor = cursor;
    this.isTree = true;
  }

  /** What hangs on a row that moved the leaf hangs on what it moved it to. */
  private targetOf(id: string | null): string | null {
    let at = id;
    for (let steps = 0; at !== null && this.markers.has(at) && steps <= this.markers.size; steps++)
      at = this.parents.get(at) ?? null;
    return at;
  }

  private noteModel(id: string, entry: Json, parent: string | null): void {
    const changed =
      stringField(entry, 'type') === 'model_change'
        ? nameField(entry, 'modelId')
        : stringField(entry, 'customType') === 'model-snapshot'
          ? dig(entry, 'data', 'modelId')
          : null;
    const model = typeof changed === 'string' ? changed : parent === null ? undefined : this.models.get(parent);
    if (model !== undefined) this.models.set(id, model);
  }
}
