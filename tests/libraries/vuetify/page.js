import { createApp } from "vue";
import { createVuetify } from "vuetify";
import * as components from "vuetify/components";
import * as directives from "vuetify/directives";
import "vuetify/styles";

const App = {
  data: () => ({ tell: window.tell, state: "Florida", many: ["foo"], volume: 40, film: null, dialog: false, bar: false, tab: "one", sort: [], chosen: [], items: [{ name: "Frozen Yogurt", calories: 159 }, { name: "Eclair", calories: 262 }, { name: "Cupcake", calories: 305 }], tree: [{ id: 1, title: "Applications", children: [{ id: 2, title: "Calendar" }] }], page: 1, day: new Date(2026, 3, 17) }),
  template: `<v-app><v-main class="pa-4"><h1>Vuetify</h1>
    <v-select label="State" v-model="state" :items="['California', 'Colorado', 'Florida', 'Georgia']" @update:modelValue="tell('state', $event)" />
    <v-select label="Chips" multiple chips closable-chips v-model="many" :items="['foo', 'bar', 'fizz']" @update:modelValue="tell('many', $event)" />
    <v-autocomplete label="Autocomplete" :items="['Arizona', 'Texas', 'Wyoming']" @update:modelValue="tell('auto', $event)" />
    <v-combobox label="Combobox" :items="['Programming', 'Design']" @update:modelValue="tell('combo', $event)" />
    <v-text-field label="First name" :rules="[v => !!v || 'You must enter a first name.']" clearable @update:modelValue="tell('first', $event)" />
    <v-checkbox label="Agree" @update:modelValue="tell('agree', $event)" /><v-switch label="Message" @update:modelValue="tell('switch', $event)" />
    <v-radio-group label="Colour" inline @update:modelValue="tell('radio', $event)"><v-radio label="Red" value="red" /><v-radio label="Blue" value="blue" /></v-radio-group>
    <v-slider label="Volume" v-model="volume" max="100" step="1" style="max-width:300px" @update:modelValue="tell('volume', $event)" />
    <v-rating :length="5" :model-value="2" @update:modelValue="tell('rating', $event)" />
    <v-btn-toggle mandatory @update:modelValue="tell('align', $event)"><v-btn value="left">Left</v-btn><v-btn value="right">Right</v-btn></v-btn-toggle>
    <v-chip closable @click:close="tell('chip', 'closed')">Closable</v-chip>
    <v-menu><template v-slot:activator="{ props }"><v-btn v-bind="props">Parent</v-btn></template><v-list><v-list-item @click="tell('menu', 'one')" title="Click Me" /><v-list-item title="Click Me 2" @click="tell('menu', 'two')" /></v-list></v-menu>
    <v-dialog v-model="dialog" max-width="400"><template v-slot:activator="{ props }"><v-btn v-bind="props">Open Dialog</v-btn></template><v-card title="Dialog" text="Lorem ipsum dolor"><v-card-actions><v-btn @click="dialog = false; tell('dialog', 'closed')">Close Dialog</v-btn></v-card-actions></v-card></v-dialog>
    <v-btn @click="bar = true">Open Snackbar</v-btn><v-snackbar v-model="bar" :timeout="-1">Hello, I'm a snackbar <template v-slot:actions><v-btn @click="bar = false; tell('bar', 'closed')">Dismiss</v-btn></template></v-snackbar>
    <v-tabs v-model="tab" @update:modelValue="tell('tab', $event)"><v-tab value="one">Item One</v-tab><v-tab value="two">Item Two</v-tab></v-tabs>
    <v-expansion-panels><v-expansion-panel title="Panel title" text="Panel text" @group:selected="tell('panel', $event.value)" /></v-expansion-panels>
    <v-data-table show-select item-value="name" :items="items" :headers="[{ title: 'Dessert', key: 'name' }, { title: 'Calories', key: 'calories' }]" @update:modelValue="tell('rows', $event)" @update:sortBy="tell('sort', $event[0]?.key)" />
    <v-pagination v-model="page" :length="4" @update:modelValue="tell('page', $event)" />
    <v-treeview :items="tree" item-value="id" activatable @update:activated="tell('tree', $event)" />
    <v-date-picker v-model="day" @update:modelValue="tell('day', $event.getDate())" />
    <v-file-input label="File input" @update:modelValue="tell('file', $event?.name)" />
    <v-text-field label="Password" type="password" />
  </v-main></v-app>`,
};

createApp(App).use(createVuetify({ components, directives })).mount("#root");
