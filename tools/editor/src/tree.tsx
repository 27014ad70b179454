// SPDX-License-Identifier: MIT
// The scene tree. Long levels: only the rows in view are made.
import {computed, signal} from "@preact/signals";
import {useEffect, useRef, useState} from "preact/hooks";

import type {SceneNode} from "./api";
import * as store from "./store";

const rowHeight = 22;
const filter = signal("");
const closed = signal<ReadonlySet<number>>(new Set());

interface Row {
    node: SceneNode;
    depth: number;
    hasChildren: boolean;
}

const rows = computed<Row[]>(() => {
    const children = new Map<number, SceneNode[]>();
    for (const node of store.nodes.value) {
        const parent = store.byId.value.has(node.parent) ? node.parent : -1;
        children.set(parent, [...children.get(parent) ?? [], node]);
    }
    const wanted = filter.value.trim().toLowerCase();
    const list: Row[] = [];
    const walk = (parent: number, depth: number) => {
        for (const node of children.get(parent) ?? []) {
            const hasChildren = children.has(node.id);
            if (!wanted || node.name.toLowerCase().includes(wanted) || node.kind.toLowerCase().includes(wanted)) {
                list.push({node, depth: wanted ? 0 : depth, hasChildren: hasChildren && !wanted});
            }
            if (hasChildren && (wanted || !closed.value.has(node.id))) {
                walk(node.id, depth + 1);
            }
        }
    };
    walk(-1, 0);
    return list;
});

function fold(id: number): void {
    const ids = new Set(closed.value);
    if (!ids.delete(id)) {
        ids.add(id);
    }
    closed.value = ids;
}

function TreeRow(props: {row: Row; index: number; onPick: (event: MouseEvent, index: number) => void}) {
    const {node, depth, hasChildren} = props.row;
    const flags = node.flags;
    return (
        <div class={`row ${store.selection.value.has(node.id) ? "on" : ""}`} role="treeitem"
            aria-selected={store.selection.value.has(node.id)} data-node={node.id}
            style={{top: `${props.index * rowHeight}px`, paddingLeft: `${8 + 12 * depth}px`}}
            onClick={event => props.onPick(event, props.index)}>
            {hasChildren && (
                <button class="fold" aria-label="fold" onClick={event => {
                    event.stopPropagation();
                    fold(node.id);
                }}>{closed.value.has(node.id) ? "▸" : "▾"}</button>
            )}
            <span class={flags.hidden ? "name dim" : "name"}>{node.name || `node ${node.id}`}</span>
            <span class="marks">
                {flags.occluder && <b title="Occluder Static">O</b>}
                {flags.occludee && <b title="Occludee Static">E</b>}
                {flags.dynamic && <b title="dynamic">D</b>}
                {node.kind === "OcclusionArea" && <b title="Occlusion Area">A</b>}
                {node.camera && <b title="camera">C</b>}
            </span>
        </div>
    );
}

export function Tree() {
    const list = useRef<HTMLDivElement>(null);
    const anchor = useRef(0);
    const [top, setTop] = useState(0);
    const [height, setHeight] = useState(600);
    useEffect(() => {
        const watch = new ResizeObserver(() => setHeight(list.current?.clientHeight ?? 600));
        watch.observe(list.current!);
        return () => watch.disconnect();
    }, []);
    const pick = (event: MouseEvent, index: number) => {
        const id = rows.value[index].node.id;
        if (event.shiftKey) {
            const [a, b] = [Math.min(anchor.current, index), Math.max(anchor.current, index)];
            store.select(rows.value.slice(a, b + 1).map(row => row.node.id));
        } else if (event.ctrlKey || event.metaKey) {
            store.toggle(id);
            anchor.current = index;
        } else {
            store.select([id]);
            anchor.current = index;
        }
    };
    const first = Math.max(0, Math.floor(top / rowHeight) - 4);
    const count = Math.ceil(height / rowHeight) + 8;
    return (
        <nav aria-label="Scene">
            <input type="search" placeholder="Find a node" aria-label="Find a node" value={filter.value}
                onInput={event => { filter.value = event.currentTarget.value; }} />
            <div class="rows" role="tree" ref={list} onScroll={event => setTop(event.currentTarget.scrollTop)}>
                <div style={{height: `${rows.value.length * rowHeight}px`, position: "relative"}}>
                    {rows.value.slice(first, first + count).map((row, i) =>
                        <TreeRow key={row.node.id} row={row} index={first + i} onPick={pick} />)}
                </div>
            </div>
            <footer>{store.nodes.value.length} nodes, {store.selection.value.size} selected</footer>
        </nav>
    );
}
