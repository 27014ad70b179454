// SPDX-License-Identifier: MIT
// The menu bar. Menus are <details>: they work with the keyboard and without a script.
import type {ComponentChildren} from "preact";
import {useEffect, useRef} from "preact/hooks";

import type {SceneView} from "./scene_view";
import * as store from "./store";

function List(props: {title: string; children: ComponentChildren}) {
    const element = useRef<HTMLDetailsElement>(null);
    useEffect(() => {
        const close = (event: MouseEvent) => {
            if (element.current && !element.current.contains(event.target as Node)) {
                element.current.open = false;
            }
        };
        addEventListener("mousedown", close);
        return () => removeEventListener("mousedown", close);
    }, []);
    return (
        <details ref={element} onClick={event => {
            if ((event.target as HTMLElement).closest("button") && element.current) {
                element.current.open = false;
            }
        }}>
            <summary>{props.title}</summary>
            <menu>{props.children}</menu>
        </details>
    );
}

function Item(props: {text: string; keys?: string; disabled?: boolean; checked?: boolean; run: () => unknown}) {
    return (
        <li>
            <button disabled={props.disabled} onClick={() => void props.run()}
                aria-pressed={props.checked}>
                <span>{props.checked === undefined ? "" : props.checked ? "✓ " : "  "}{props.text}</span>
                {props.keys && <kbd>{props.keys}</kbd>}
            </button>
        </li>
    );
}

function setTheme(): void {
    const theme = document.documentElement.dataset.theme === "light" ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
    store.selection.value = new Set(store.selection.value);
}

export function Menu(props: {view: SceneView | null}) {
    const status = store.status.value, busy = store.baking.value !== null;
    const none = store.selection.value.size === 0;
    const spawn = () => {
        const at = props.view?.getFocus();
        return at && store.spawnArea(at.x, at.y, at.z);
    };
    return (
        <header>
            <strong>espy</strong>
            <List title="File">
                <Item text="Save" keys="Ctrl S" disabled={!status?.dirty || busy} run={store.save} />
            </List>
            <List title="Edit">
                <Item text="Undo" keys="Ctrl Z" disabled={!status?.canUndo || busy} run={store.undo} />
                <Item text="Redo" keys="Ctrl Y" disabled={!status?.canRedo || busy} run={store.redo} />
                <Item text="Remove Occlusion Area" keys="Del" disabled={none || busy} run={store.removeSelectedAreas} />
            </List>
            <List title="Spawn Node">
                <p>3D ▸ Environment</p>
                <Item text="Occlusion Area" disabled={busy} run={spawn} />
            </List>
            <List title="World">
                <Item text="Bake Occlusion Culling" keys="B" disabled={busy} run={store.bake} />
                <Item text="Mark Selected Occluder + Occludee" keys="M" disabled={none || busy} run={store.markSelected} />
                <Item text="Clear Occlusion Data" disabled={!store.occlusion.value?.baked || busy} run={store.clear} />
            </List>
            <List title="View">
                <Item text="Bounds" checked={store.bounds.value}
                    run={() => { store.bounds.value = !store.bounds.value; }} />
                <Item text="Occlusion Preview" keys="P" checked={store.preview.value}
                    run={() => store.setPreview(!store.preview.value)} />
                <Item text="Cells by Visible Count" keys="H" checked={store.heatMap.value}
                    run={() => { store.heatMap.value = !store.heatMap.value; }} />
                <Item text="Game and Second Screen Previews" checked={store.panels.value}
                    run={() => { store.panels.value = !store.panels.value; }} />
                <Item text="Stats: Culling" checked={store.stats.value}
                    run={() => { store.stats.value = !store.stats.value; }} />
                <Item text="Game Camera Here" keys="G" run={() => props.view?.moveGameCamera()} />
                <Item text="Dark or Light" run={setTheme} />
            </List>
            <span class="file" title={status?.level}>
                {status ? `${status.level.split("/").pop()}${status.dirty ? " •" : ""}` : "loading"}
            </span>
            {!store.connected.value && <span class="lost">the server does not answer</span>}
            <button class="primary" data-test="bake" disabled={busy} onClick={() => void store.bake()}>Bake</button>
        </header>
    );
}
